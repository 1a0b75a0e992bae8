import { v7 as uuidv7 } from 'uuid';
import { beforeAll, expect, test } from 'vitest';
import { noAuditFilters, auditPath, auditTarget, withAuditFilter } from '~/format/audit-words';
import { historyOf } from '~/format/history';
import { readAudit, readFreshAudit, type AuditEntry } from '../../server/console/audit.js';
import { exportAudit } from '../../server/console/audit-export.js';
import { parseAuditFilters, type AuditFilters } from '../../server/console/audit-filters.js';
import { readRowPage, type EventView } from '../../server/console/row-page.js';
import { createKysely } from '../../server/db/kysely.js';
import { parseItems } from '../../server/lease/queues.js';
import { createLogger } from '../../server/log.js';
import { actionByName } from '../../server/operations/actions.js';
import { operate } from '../../server/operations/operate.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { insertParseItem, insertRow, sql } from '../support/factories.js';

let database: TestDatabase;
let kysely: ReturnType<typeof createKysely>;
const bulk = uuidv7();
const item = uuidv7();

/** 120 attempts of two people, one a minute, newest last; every third refused. */
const COUNT = 120;

beforeAll(async () => {
  database = await testDatabase();
  kysely = createKysely(database.pool);
  for (let n = 0; n < COUNT; n++) {
    const refused = n % 3 === 0;
    await insertRow(database.pool, 'operator_actions', {
      attempt_id: uuidv7(), at: sql(`timestamptz '2026-01-01 00:00Z' + interval '${n} minutes'`), actor_kind: 'operator', actor_id: uuidv7(), actor_name: n % 2 === 0 ? 'ada' : 'otto', actor_role: 'operator',
      via: n < 10 ? 'bulk' : 'page', bulk_id: n < 10 ? bulk : null, action: n % 4 === 0 ? 'pause_queue' : 'release', target_kind: n % 4 === 0 ? 'queue' : 'row',
      target_id: n % 4 === 0 ? 'parse_items' : n === 1 ? item : uuidv7(), queue: 'parse_items', row_id: n === 1 ? item : null, reason: n === 1 ? '=HYPERLINK("http://evil.example")' : `reason ${n}`,
      outcome: refused ? 'refused' : 'applied', refusal: refused ? 'lease_valid' : null, answer: `answer ${n}`, before: JSON.stringify({ state: 'running', token: '7' }), after: JSON.stringify({ state: 'queued' }),
    });
  }
});

const read = (change: Partial<AuditFilters> = {}) => readAudit(kysely, { ...noAuditFilters, ...change });
async function all(parts: AsyncGenerator<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const part of parts) found.push(part);
  return found;
}

const numbers = (entries: AuditEntry[]) => entries.map((entry) => Number(entry.answer.split(' ')[1]));

test('pages follow each other without a gap and without an entry twice, and back again', async () => {
  const first = await read();
  expect(first).toMatchObject({ matching: COUNT, previous: null, empty: false });
  const second = await read({ before: first.next });
  const third = await read({ before: second.next });
  expect(third.next).toBeNull();
  expect([first, second, third].flatMap((page) => numbers(page.entries))).toEqual(Array.from({ length: COUNT }, (_, n) => COUNT - 1 - n));
  const back = await read({ after: third.previous });
  expect(numbers(back.entries)).toEqual(numbers(second.entries));
});

test('each filter narrows by its own, and together they narrow further', async () => {
  const minute = (n: number) => Date.parse('2026-01-01T00:00Z') + n * 60_000;
  expect((await read({ actor: 'otto' })).matching).toBe(60);
  expect((await read({ action: 'pause_queue' })).matching).toBe(30);
  expect((await read({ outcome: 'refused' })).matching).toBe(40);
  expect((await read({ queue: 'parse-items' })).matching).toBe(COUNT);
  expect(await read({ queue: 'citations' })).toMatchObject({ matching: 0, empty: false });
  expect(numbers((await read({ target: item })).entries)).toEqual([1]);
  expect((await read({ bulk })).matching).toBe(10);
  expect(numbers((await read({ from: minute(5), to: minute(8) })).entries)).toEqual([7, 6, 5]);
  expect(numbers((await read({ from: minute(5), to: minute(20), outcome: 'refused', actor: 'ada' })).entries)).toEqual([18, 12, 6]);
});

test('what has come since the newest entry shown is asked for by its id, under the same filters', async () => {
  const [newest] = (await read({ before: (await read()).entries[3]!.id })).entries;
  expect(await readFreshAudit(kysely, noAuditFilters, newest!.id)).toHaveLength(4);
  expect(await readFreshAudit(kysely, { ...noAuditFilters, actor: 'otto' }, newest!.id)).toHaveLength(2);
});

test('filters live in the address and come back from it; what is not understood is left out', () => {
  const filters: AuditFilters = { actor: 'Ada & “Co”', action: 'force_release', outcome: 'refused', queue: 'citations', target: 'user=1&x', bulk, from: Date.parse('2026-01-01T14:02Z'), to: Date.parse('2026-01-02T00:00:30Z'), before: '12', after: null };
  const back = (path: string) => parseAuditFilters(new URL(path, 'http://x').searchParams);
  expect(back(auditPath(filters))).toEqual(filters);
  expect(back(auditPath(withAuditFilter(filters, { outcome: null })))).toEqual({ ...filters, outcome: null, before: null });
  expect(auditPath()).toBe('/audit');
  expect(back("/audit?actor=%20&action=drop%20table&outcome=maybe&queue=users&bulk=1&from=yesterday&to=2026-13-01&before=1'or'1&after=99999999999999999999")).toEqual(noAuditFilters);
});

test('an export holds what the filters hold, in order, and a reason cannot become a formula', async () => {
  const text = async (format: 'csv' | 'json', change: Partial<AuditFilters> = {}, cap?: number) => (await all(exportAudit(kysely, { ...noAuditFilters, ...change }, format, cap))).join('');
  const lines = (await text('csv', { bulk })).trimEnd().split('\r\n');
  expect(lines).toHaveLength(11);
  expect(lines[9]).toContain(`,"'=HYPERLINK(""http://evil.example"")",applied,,answer 1,`);
  const json = JSON.parse(await text('json', {}, 30)) as { entries: AuditEntry[]; count: number; complete: boolean };
  expect([json.count, json.complete, numbers(json.entries).slice(0, 2)]).toEqual([30, false, [119, 118]]);
  expect(await text('csv', {}, 30)).toMatch(/Stopped after 30 entries: more match/);
});

test('what was acted on leads to its page, wherever it has one', () => {
  const to = (targetKind: string, targetId: string, queue: string | null = null, userId: string | null = null) => auditTarget({ targetKind, targetId, queue, userId }).href;
  expect(to('row', item, 'parse-items')).toBe(`/queues/parse-items/${item}`);
  expect(to('row', item, 'deployments')).toBe(`/deployments/${item}`);
  expect(to('queue', 'job_citations', 'citations')).toBe('/queues/citations');
  expect(to('session', 's/1', null, 'u 1')).toBe('/sessions/s%2F1?user=u%201');
  expect(to('user', 'u&1')).toBe('/sessions?q=u%261');
  expect(to('worker', 'w-1')).toBe('/workers');
  expect(to('account', 'x')).toBeNull();
});

test('a row tells what was done to it and what was refused, and an action and its transition are told once', async () => {
  const world = { pool: database.pool, config: database.config(), hints: { changed() {} }, log: createLogger({ level: 'silent', name: 'test' }) };
  const row = await insertParseItem(database.pool, { state: 'running', lease_token: 7, worker_id: 'w-dead', heartbeat_at: sql(`now() - interval '5 minutes'`), lease_expires_at: sql(`now() - interval '3 minutes'`) });
  const ada = { kind: 'operator', id: uuidv7(), name: 'ada', role: 'operator' } as const;
  for (const reason of ['it is stale', 'once more']) await operate(world, actionByName('release')!, { actor: ada, via: 'page', fields: { queue: 'parse-items', id: row.id, token: '7' }, reason });
  const page = (await readRowPage(kysely, parseItems, row.id))!;
  expect(page.actions.map(({ outcome, reason, actor }) => [outcome, reason, actor])).toEqual([['refused', 'once more', 'ada'], ['applied', 'it is stale', 'ada']]);
  const history = historyOf(page.events, page.actions, page.moreEvents);
  expect(history.map(({ event, action }) => [event?.cause ?? null, action?.outcome ?? null])).toEqual([[null, 'refused'], ['release', 'applied']]);
});

test('a transition is not taken for that of another action, nor for one of another time', () => {
  const event = (id: string, cause: string, at: number) => ({ id, cause, at }) as EventView;
  const action = (name: string, at: number, outcome: 'applied' | 'refused' = 'applied') => ({ id: `a${at}`, action: name, at, outcome }) as AuditEntry;
  const told = (...parameters: Parameters<typeof historyOf>) => historyOf(...parameters).map((each) => [each.at, each.event?.id ?? null, each.action?.action ?? null]);
  expect(told([event('2', 'release', 50_000), event('1', 'release', 10_000)], [action('release', 10_004)], false)).toEqual([[50_000, '2', null], [10_004, '1', 'release']]);
  expect(told([event('1', 'sweep', 10_000)], [action('release', 10_004, 'refused')], false)).toEqual([[10_004, null, 'release'], [10_000, '1', null]]);
  expect(told([event('9', 'sweep', 90_000)], [action('cancel', 10_000)], true)).toEqual([[90_000, '9', null]]);   // what came before is left out with its transitions
});
