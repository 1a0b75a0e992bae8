import { beforeAll, expect, test } from 'vitest';
import { parsePeopleFilters, PEOPLE_PER_PAGE, readOpenLinks, readPeople } from '../../server/console/settings-people.js';
import { parseSessionListFilters, readSignedIn, SIGNED_IN_PER_PAGE } from '../../server/console/settings-sessions.js';
import { readSwitches } from '../../server/console/settings-state.js';
import { parseTokenFilters, readTokens } from '../../server/console/settings-tokens.js';
import { createKysely } from '../../server/db/kysely.js';
import { createApiToken, createOperator, createSigninLink, type OperatorRow } from '../../server/operations/accounts.js';
import { openSession } from '../../server/operations/sessions.js';
import { testDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
let kysely: ReturnType<typeof createKysely>;
const people: OperatorRow[] = [];
const query = (text: string) => new URLSearchParams(text);

beforeAll(async () => {
  database = await testDatabase();
  kysely = createKysely(database.pool);
  const roles = ['viewer', 'operator', 'admin'] as const;
  for (let n = 0; n < PEOPLE_PER_PAGE + 13; n++) people.push((await createOperator(database.pool, `${n % 2 ? 'ada' : 'Ada'} ${String(n).padStart(3, '0')}`, roles[n % 3]!))!);
});

test('people are listed by name, page after page, each once, and filtered by name, role and state', async () => {
  const first = await readPeople(kysely, parsePeopleFilters(query('')));
  const second = await readPeople(kysely, parsePeopleFilters(query(`after=${first.next}`)));
  expect([...first.people, ...second.people].map(({ id }) => id)).toEqual(people.map(({ id }) => id));
  expect([first.people.length, second.next, first.admins]).toEqual([PEOPLE_PER_PAGE, null, people.filter(({ role }) => role === 'admin').length]);
  const found = async (text: string) => (await readPeople(kysely, parsePeopleFilters(query(text)))).people.map(({ name }) => name);
  expect(await found('q=ADA%20007')).toEqual(['ada 007']);
  expect(await found('q=%25')).toEqual([]);   // no pattern, but text
  expect((await found('role=viewer')).length).toBe(people.filter(({ role }) => role === 'viewer').length);
  await database.pool.query('update operators set disabled_at = now() where id = $1', [people[7]!.id]);
  expect(await found('state=disabled')).toEqual(['ada 007']);
  expect(parsePeopleFilters(query('role=king&state=x&after=1%20or%201&q=%00'))).toEqual({ q: null, role: null, state: null, after: null });
});

test('sessions are listed newest first, page after page, each once; ended ones on demand and with the reason', async () => {
  const [one, two] = [people[0]!, people[1]!];
  for (let n = 0; n < SIGNED_IN_PER_PAGE + 5; n++) await openSession(database.pool, one.id, 'password', { userAgent: `device ${n}` });
  await openSession(database.pool, two.id, 'link', { userAgent: null });
  const first = await readSignedIn(kysely, one.id, parseSessionListFilters(query('')));
  const second = await readSignedIn(kysely, one.id, parseSessionListFilters(query(`before=${first.next}`)));
  expect([...first.sessions, ...second.sessions].map(({ userAgent }) => userAgent)).toEqual(Array.from({ length: SIGNED_IN_PER_PAGE + 5 }, (_, n) => `device ${SIGNED_IN_PER_PAGE + 4 - n}`));
  expect((await readSignedIn(kysely, null, parseSessionListFilters(query('')))).sessions[0]).toMatchObject({ name: two.name, via: 'link', ended: null });
  const ends = [['revoked_at = now()', 'signed out'], ['expires_at = now()', 'expired'], [`last_seen_at = now() - interval '13 hours'`, 'idle']] as const;
  for (const [n, [change]] of ends.entries()) await database.pool.query(`update operator_sessions set ${change} where user_agent = 'device ${n}'`);
  expect((await readSignedIn(kysely, one.id, parseSessionListFilters(query(`before=${first.next}`)))).sessions.map(({ userAgent }) => userAgent)).toEqual(['device 4', 'device 3']);
  const all = await readSignedIn(kysely, one.id, parseSessionListFilters(query(`show=all&before=${first.next}`)));
  expect(all.sessions.slice(2).map(({ ended }) => ended).reverse()).toEqual(ends.map(([, word]) => word));
});

test('links are listed while they work, tokens until they are revoked, queues always', async () => {
  await createSigninLink(database.pool, people[2]!.id);
  await createSigninLink(database.pool, people[3]!.id);
  await database.pool.query('update signin_links set used_at = now() where operator_id = $1', [people[3]!.id]);
  expect((await readOpenLinks(kysely)).links.map(({ name }) => name)).toEqual([people[2]!.name]);
  for (const name of ['one', 'two']) await createApiToken(database.pool, name);
  await database.pool.query(`update api_tokens set revoked_at = now() where name = 'one'`);
  const names = async (text: string) => (await readTokens(kysely, parseTokenFilters(query(text)))).tokens.map(({ name }) => name);
  expect([await names(''), await names('show=all'), await names('show=all&q=ON')]).toEqual([['two'], ['two', 'one'], ['one']]);
  await database.pool.query(`insert into queue_pauses (queue, paused_by, reason) values ('parse_items', 'ada', 'disk full')`);
  expect((await readSwitches(kysely)).find(({ slug }) => slug === 'parse-items')).toMatchObject({ paused: { by: 'ada', reason: 'disk full' } });
});
