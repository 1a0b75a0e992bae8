import type { Kysely, RawBuilder } from 'kysely';
import type { DB } from '../db/generated.js';
import { queueByTable } from '../lease/queues.js';
import type { FindForms, IdForms } from './find-forms.js';
import { recogniseForms } from './find-forms.js';
import { findByName, newestByName } from './find-names.js';
import * as queries from './find-queries.js';
import { HITS_SHOWN } from './find-queries.js';
import { subjectOf, subjectOfHit } from './find-subject.js';
import type { FindAnswer, FindGroup, Found, GroupName, HitRow, NameSearch, RowHit } from './find-view.js';
import type { Reader } from './read.js';
import { readOnly, readStamp, unlessTooSlow } from './read.js';

/**
 * Everything that the input may name, grouped by what it was understood as, whole names before parts. Read-only transactions of its own:
 * one for what indexes answer at once, one for file names. `gone` says that nobody waits any more. @throws ReadTimeoutError
 */
export async function find(kysely: Kysely<DB>, input: string, gone?: AbortSignal): Promise<FindAnswer> {
  const forms = recogniseForms(input);
  const { stamp, groups } = await readOnly(kysely, async (reader) => ({ stamp: await readStamp(reader), groups: forms.text === '' ? [] : await findNamed(reader, forms) }));
  const { rows, names } = gone?.aborted ? { rows: [], names: 'none' as const } : await findFiles(kysely, forms);
  const all = ranked([...groups, group('file', false, rows.map(rowHit))]);
  return { ...stamp, text: forms.text, groups: all, names, subject: subjectOf(all) };
}

async function findNamed(reader: Reader, forms: FindForms): Promise<FindGroup[]> {
  const { id, email, name } = forms;
  return [
    ...(await findIds(reader, id)),
    ...(email === null ? [] : await findAddresses(reader, email)),
    ...(name === null ? [] : [
      await findSessions(reader, 'session', queries.sessionsById(name)),
      await findSessions(reader, 'user', queries.sessionsOfUser(name)),
      await findApps(reader, name, forms.slug),
      await findWorkers(reader, name),
    ]),
  ];
}

async function findIds(reader: Reader, { whole, range, tail }: IdForms): Promise<FindGroup[]> {
  const between = whole === null ? range : ([whole, whole] as [string, string]);
  const name = whole === null ? 'id_start' : 'id';
  const groups: FindGroup[] = [];
  if (between !== null) {
    groups.push(group(name, whole !== null, (await rowsOf(reader, queries.rowsByRange(between))).map(rowHit)));
    const documents = await rowsOf(reader, queries.documentsByRange(between));
    groups.push(group('document', whole !== null, documents.map((row) => ({ kind: 'document', ...row }))));
  }
  if (tail !== null) groups.push(group('id_end', false, (await rowsOf(reader, queries.rowsByTail(tail))).map(rowHit)));
  return groups;
}

/** The sessions of a whole address; other addresses that begin like it. */
async function findAddresses(reader: Reader, email: string): Promise<FindGroup[]> {
  const sessions = await findSessions(reader, 'address', queries.sessionsOfAddress(email));
  const addresses = await rowsOf(reader, queries.addressesFrom(email));
  const others = sessions.hits.length === 0 ? addresses : addresses.filter(({ address }) => address.length !== email.length);
  return [sessions, group('address_start', false, others.map(({ address }) => ({ kind: 'address', address })))];
}

async function findSessions(reader: Reader, name: GroupName, query: RawBuilder<queries.FoundKey>): Promise<FindGroup> {
  const keys = await rowsOf(reader, query);
  const rows = keys.length === 0 ? [] : await rowsOf(reader, queries.newestOf(keys));
  const found = group(name, true, rows.map(({ upload, analysis, ...row }) => ({ kind: 'session', ...row, upload: upload && rowHit(upload), analysis: analysis && rowHit(analysis) })));
  return { ...found, more: found.more || keys.some(({ full }) => full) };
}

async function findApps(reader: Reader, name: string, slug: string | null): Promise<FindGroup> {
  const rows = await rowsOf(reader, queries.deploymentsBy(name, slug));
  return group('app', rows.some((row) => row.project === name || row.name === slug), rows.map(rowHit));
}

async function findWorkers(reader: Reader, name: string): Promise<FindGroup> {
  const rows = await rowsOf(reader, queries.workersBy(name));
  return group('worker', rows.some((row) => row.id === name || row.label === name), rows.map((row) => ({ ...row, kind: 'worker' })));
}

/** Names may be common: their search has a limit of its own, and when that is reached the newest files are the answer. */
async function findFiles(kysely: Kysely<DB>, { fileNames }: FindForms): Promise<{ rows: HitRow[]; names: NameSearch }> {
  if (fileNames.length === 0) return { rows: [], names: 'none' };
  return await unlessTooSlow(readOnly(kysely, (reader) => findByName(reader, fileNames)))
    ?? { rows: await readOnly(kysely, (reader) => rowsOf(reader, newestByName(fileNames))), names: 'newest' };
}

async function rowsOf<T>(reader: Reader, query: RawBuilder<T>): Promise<T[]> {
  return (await query.execute(reader)).rows;
}

function rowHit(row: HitRow): RowHit {
  const { slug, noun } = queueByTable(row.table)!;
  return { kind: 'row', ...row, slug, noun };
}

function group(name: GroupName, whole: boolean, found: Found[]): FindGroup {
  return { name, whole, hits: found.slice(0, HITS_SHOWN).map((hit) => ({ ...hit, subject: subjectOfHit(hit) })), more: found.length > HITS_SHOWN };
}

/** Among whole names, and among parts, in this order. */
const ORDER: readonly GroupName[] = ['id', 'document', 'address', 'session', 'user', 'app', 'worker', 'address_start', 'id_start', 'id_end', 'file'];

function ranked(groups: readonly FindGroup[]): FindGroup[] {
  return groups.filter(({ hits }) => hits.length > 0)
    .sort((a, b) => Number(b.whole) - Number(a.whole) || ORDER.indexOf(a.name) - ORDER.indexOf(b.name));
}
