import { beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from './database.js';
import { insertDocument, insertParseItem, insertParseJob, insertWorker } from './factories.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });

describe('the factories', () => {
  it.each(['awaiting', 'queued', 'running', 'succeeded', 'failed', 'cancelled'] as const)('make a legal parse job that is %s', async state => {
    expect((await insertParseJob(database.pool, { state })).state).toBe(state);
  });

  it.each(['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const)('make a legal parse item that is %s', async state => {
    expect((await insertParseItem(database.pool, { state })).state).toBe(state);
  });

  it('make documents and workers', async () => {
    expect((await insertDocument(database.pool)).id).toBeTruthy();
    expect((await insertWorker(database.pool)).id).toBeTruthy();
  });
});
