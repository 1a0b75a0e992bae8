// A user's reset while an upload of that session is still being parsed: whichever of the two ends first, what was unlinked stays unlinked.
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { unlinkSources } from '../../server/api/session-sources.js';
import { inTransaction } from '../../server/db/connection.js';
import type { Done, Lease } from '../../server/lease/handler.js';
import { parseItems, parseJobs } from '../../server/lease/queues.js';
import { settle, succeedWithin } from '../../server/lease/settle.js';
import { createParseItemHandler } from '../../server/parse/parse-item.js';
import { createParseJobHandler } from '../../server/parse/parse-job.js';
import { resetSources } from '../../server/sources/session-reset.js';
import { offlineEmbedder } from '../../server/sources/offline-embedder.js';
import { englishText, germanText, textPdf } from '../fixtures/pdfs.js';
import { alice, openTransaction, someoneWaits, undoOpen } from '../lease/world.js';
import { limits, workOn } from '../parse/held.js';
import { testDatabase } from '../support/database.js';
import { insertParseItem, insertParseJob } from '../support/factories.js';
import { until } from '../support/until.js';
import { claim, clearAll, openDesk, press, registerWorkers, type Desk } from './world.js';

let pool: pg.Pool;
let desk: Desk;
let pdf: Buffer;
let otherPdf: Buffer;
beforeAll(async () => {
  const db = await testDatabase();
  pool = db.createPool({ max: 8 });
  desk = openDesk(db, pool);
  [pdf, otherPdf] = [await textPdf([englishText]), await textPdf(germanText)];
});
beforeEach(async () => {
  await clearAll(pool);
  await registerWorkers(pool);
});
afterEach(undoOpen);

const owner = { userId: 'user-1', sessionId: 'session-1' };
const items = createParseItemHandler({ limits });
const jobs = createParseJobHandler({ embedder: offlineEmbedder() });

/** An upload of these files; each is claimed and read, but not settled. */
async function reading(...files: Buffer[]) {
  const job = await insertParseJob(pool, { open_children: files.length, total_children: files.length });
  const read = [];
  for (const file_bytes of files) {
    const item = await insertParseItem(pool, { job_id: job.id, file_bytes });
    const lease = await claim(pool, parseItems, alice, item.id);
    read.push({ lease, outcome: await items(lease, workOn(pool)) as Done });
  }
  return { jobId: job.id, read, item: read[0]! };
}
type Read = { lease: Lease; outcome: Done };
const settleItem = ({ lease, outcome }: Read) => inTransaction(pool, (tx) => succeedWithin(tx, parseItems, alice, lease, outcome));
/** The job's own work, up to its settle. */
async function finishing(jobId: string): Promise<Read> {
  const lease = await claim(pool, parseJobs, alice, jobId);
  return { lease, outcome: await jobs(lease, workOn(pool)) as Done };
}
const settleJob = ({ lease, outcome }: Read, within?: pg.PoolClient) => within ? succeedWithin(within, parseJobs, alice, lease, outcome) : inTransaction(pool, (tx) => succeedWithin(tx, parseJobs, alice, lease, outcome));
const reset = (documentId?: string) => unlinkSources(pool, { ...owner, documentId });
const linked = async () => (await pool.query<{ document_id: string }>('select document_id from session_sources where user_id = $1 and session_id = $2 order by 1', [owner.userId, owner.sessionId])).rows.map((row) => row.document_id);
const documentOf = async ({ lease }: Read) => (await pool.query<{ id: string }>('select document_id as id from parse_items where id = $1', [lease.id])).rows[0]!.id;

async function blocked<T>(work: Promise<T>): Promise<{ result: Promise<T> }> {
  work.catch(() => {});
  await until(() => someoneWaits(pool));
  return { result: work };
}

describe('a reset of the whole session', () => {
  it('before the file is settled: neither the file\'s end nor the upload\'s links', async () => {
    const { jobId, item } = await reading(pdf);
    expect(await reset()).toEqual({ unlinked: 0 });
    await settleItem(item);
    expect(await linked()).toEqual([]);
    await settleJob(await finishing(jobId));
    expect(await linked()).toEqual([]);
  });

  it('while the file waits for a worker: nothing of it is linked', async () => {
    const job = await insertParseJob(pool);
    const { id } = await insertParseItem(pool, { job_id: job.id, file_bytes: pdf });
    await reset();
    const lease = await claim(pool, parseItems, alice, id);
    await settleItem({ lease, outcome: await items(lease, workOn(pool)) as Done });
    await settleJob(await finishing(job.id));
    expect(await linked()).toEqual([]);
  });

  it('after the file was settled: the upload\'s end does not link it again', async () => {
    const { jobId, item } = await reading(pdf);
    await settleItem(item);
    expect(await linked()).toHaveLength(1);
    expect(await reset()).toEqual({ unlinked: 1 });
    await settleJob(await finishing(jobId));
    expect(await linked()).toEqual([]);
  });

  it('while the upload\'s end is being prepared: it does not link', async () => {
    const { jobId, item } = await reading(pdf);
    await settleItem(item);
    const ending = await finishing(jobId);
    expect(await reset()).toEqual({ unlinked: 1 });
    await settleJob(ending);
    expect(await linked()).toEqual([]);
  });

  it('during the settle of the file: waits for it and unlinks what it linked', async () => {
    const { jobId, item: { lease, outcome } } = await reading(pdf);
    const settling = await openTransaction(pool);
    await succeedWithin(settling, parseItems, alice, lease, outcome);
    const { result } = await blocked(reset());
    await settling.commit();
    expect(await result).toEqual({ unlinked: 1 });
    await settleJob(await finishing(jobId));
    expect(await linked()).toEqual([]);
  });

  it('during the settle of the upload: waits for it and unlinks what it linked', async () => {
    const { jobId, item } = await reading(pdf);
    await settleItem(item);
    const ending = await finishing(jobId);
    await pool.query('delete from session_sources'); // the file's own link had been lost
    const settling = await openTransaction(pool);
    await settleJob(ending, settling);
    const { result } = await blocked(reset());
    await settling.commit();
    expect(await result).toEqual({ unlinked: 1 });
    expect(await linked()).toEqual([]);
  });

  it('that has not committed when the file, or the upload, is settled: the settle waits and links nothing', async () => {
    for (const last of ['file', 'upload'] as const) {
      await clearAll(pool);
      const { jobId, item } = await reading(pdf);
      if (last === 'upload') await settleItem(item);
      const ending = last === 'file' ? item : await finishing(jobId);
      const resetting = await openTransaction(pool);
      await resetSources(resetting, owner);
      const { result } = await blocked(last === 'file' ? settleItem(ending) : settleJob(ending));
      await resetting.commit();
      await result;
      expect(await linked()).toEqual([]);
    }
  });

  it('by an operator does the same, and says how many uploads it told', async () => {
    const { jobId, item } = await reading(pdf, otherPdf);
    await settleItem(item);
    expect((await press(desk, 'reset_sources', owner)).text).toBe('Unlinked 1 source of the session; 1 upload under way or failed will not link any.');
    await settle(pool, parseItems, alice, [{ id: (await pool.query<{ id: string }>(`select id from parse_items where state = 'running'`)).rows[0]!.id, token: '1', verb: 'fail', code: 'no_text', message: 'No.' }]);
    await settleJob(await finishing(jobId));
    expect(await linked()).toEqual([]);
  });

  it('after the upload failed: a re-kick of it does not link again', async () => {
    const { jobId, item } = await reading(pdf);
    await settleItem(item);
    await claim(pool, parseJobs, alice, jobId);
    await settle(pool, parseJobs, alice, [{ id: jobId, token: '1', verb: 'fail', code: 'internal', message: 'A crash.' }]);
    expect(await reset()).toEqual({ unlinked: 1 });
    expect(await press(desk, 'rekick', { queue: 'parse-jobs', id: jobId })).toMatchObject({ outcome: 'applied' });
    await settleJob(await finishing(jobId));
    expect(await linked()).toEqual([]);
  });

  it('and then the same file uploaded again: that upload links it', async () => {
    const first = await reading(pdf);
    await reset();
    const second = await reading(pdf);
    await settleItem(second.item);
    await settleItem(first.item);
    await settleJob(await finishing(first.jobId));
    await settleJob(await finishing(second.jobId));
    expect(await linked()).toEqual([await documentOf(second.item)]);
  });

  it('of another session or another user leaves the upload as it is', async () => {
    const { jobId, item } = await reading(pdf);
    await unlinkSources(pool, { userId: owner.userId, sessionId: 'another' });
    await unlinkSources(pool, { userId: 'another', sessionId: owner.sessionId });
    await settleItem(item);
    await settleJob(await finishing(jobId));
    expect(await linked()).toHaveLength(1);
  });
});

describe('a reset of one document', () => {
  it('keeps that one unlinked, whether its file is settled before or after, and links the others', async () => {
    const earlier = await reading(pdf); // the user has the document from before
    await settleItem(earlier.item);
    await settleJob(await finishing(earlier.jobId));
    const known = await documentOf(earlier.item);
    const { jobId, read } = await reading(pdf, otherPdf);
    await settleItem(read[0]!);
    expect(await reset(known)).toEqual({ unlinked: 1 });
    await settleItem(read[1]!);
    const other = await documentOf(read[1]!);
    await settleJob(await finishing(jobId));
    expect(await linked()).toEqual([other]);

    const again = await reading(pdf);
    expect(await reset(known)).toEqual({ unlinked: 0 });
    await settleItem(again.item);
    await settleJob(await finishing(again.jobId));
    expect(await linked()).toEqual([other]);
  });

  it('of an id that nobody knows unlinks nothing and keeps nothing from being linked', async () => {
    const { item } = await reading(pdf);
    expect(await reset(uuidv7())).toEqual({ unlinked: 0 });
    await settleItem(item);
    expect(await linked()).toHaveLength(1);
  });
});
