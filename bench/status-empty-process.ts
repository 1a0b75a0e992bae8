/** What Express can do at all: one route that answers nothing. */
import express from 'express';
import type { AddressInfo } from 'node:net';

const app = express().disable('etag').disable('x-powered-by');
app.get('/empty', (_req, res) => void res.end());
const server = app.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
process.once('disconnect', () => process.exit(0));
