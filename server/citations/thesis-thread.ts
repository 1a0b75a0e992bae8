/** The thread in which a thesis is read: it computes, answers once, and ends. See thesis-reader.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { readThesis, type ThesisOrder } from './read-thesis.js';

parentPort?.postMessage(readThesis(workerData as ThesisOrder));
