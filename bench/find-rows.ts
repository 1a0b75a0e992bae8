/** A long history over every queue, made in the database: ids, instants and names follow from the row's number, so that a search knows what it must find. */
import type pg from 'pg';

/** How a hundred rows spread over the queues: an upload has four files, a thesis ten citations. */
const SHARES = { parse_jobs: 0.08, parse_items: 0.32, analysis_jobs: 0.05, job_citations: 0.5, deployments: 0.05 } as const;

type Table = keyof typeof SHARES;

/** What lies between the first row of each queue and now: two years. */
const SPAN_SECONDS = 2 * 365 * 86_400;
/** The last so many rows of each queue are still open. */
const OPEN_ROWS = 400;

const AUTHORS = ['Müller', 'Schröder', 'García', 'Nguyễn', 'Kowalska', 'Okonkwo', 'Lindström', 'Ferreira', 'Özdemir', 'Haddad', 'Novák', 'Björnsdóttir', 'Tanaka', 'Dubois', 'Weiß', 'Petrov'];
const TOPICS = ['Methoden', 'Grundlagen', 'Empirie', 'Review', 'Modell', 'Interviews', 'Statistik', 'Theorie', 'Anhang', 'Kapitel', 'Protokoll', 'Bericht'];

export function rowsOf(table: Table, total: number): number {
  return Math.max(1, Math.round(total * SHARES[table]));
}

/** Indexes are dropped first and built again at the end; foreign keys are not checked: the server is a throwaway, the connection its superuser's. */
export async function fillQueues(pool: pg.Pool, total: number): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(`set session_replication_role = replica; set synchronous_commit = off; set maintenance_work_mem = '512MB'`);
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(`
      select c.relname as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indrelid = any ($1::regclass[]) and not exists (select from pg_constraint k where k.conindid = i.indexrelid)`, [Object.keys(SHARES)]);
    for (const { name } of indexes) await client.query(`drop index ${name}`);
    for (const table of Object.keys(SHARES) as Table[]) await client.query(statements[table](rowsOf(table, total), sessionsOf(total), rowsOf(parentOf[table] ?? table, total)));
    await client.query(besides(total));
    for (const { definition } of indexes) await client.query(definition);
    for (const table of [...Object.keys(SHARES), 'documents', 'workers']) await client.query(`vacuum analyze ${table}`);
    await client.query('reset all');
  } finally {
    client.release();
  }
}

/** Evenly over the years until now. `n` is the row's number, `at` its instant, `m` 32 digits that follow from it. */
function numbered(table: Table, rows: number): string {
  return `(select n, m, at, n > ${rows - OPEN_ROWS} as open, n % 40 = 0 as failed, ${idOf('m', 'at')} as id
    from (select n, md5('${table}' || n) as m, now() - (${rows} - n) * interval '1 second' * (${SPAN_SECONDS}::float8 / ${rows}) as at from generate_series(1, ${rows}) n) made) r`;
}

/** A UUIDv7 of that instant with a tail from `m`. */
function idOf(m: string, at: string): string {
  return `(lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7' || substr(${m}, 1, 3) || '8' || substr(${m}, 4, 15))::uuid`;
}

function pick(words: readonly string[], digits: string): string {
  return `(array[${words.map((word) => `'${word}'`).join(',')}])[1 + ('x' || ${digits})::bit(16)::int % ${words.length}]`;
}


/** Fifty uploads a session, four sessions a user; uploads and analyses of a session are of the same days. */
export function sessionsOf(total: number): number {
  return Math.ceil(rowsOf('parse_jobs', total) / 50);
}

const owner = (number: string, parents: number, sessions: number) => `'u-' || (${number})::bigint * ${sessions} / ${parents + 1} / 4, 's-' || (${number})::bigint * ${sessions} / ${parents + 1}`;

const LEASE = 'state, lease_token, created_at, queued_at, run_after, finished_at, error_code, error_message';
const lease = (open: string) => `case when r.open then '${open}' when r.failed then 'failed' else 'succeeded' end, 1, r.at, r.at, r.at, case when r.open then null else r.at end,
  case when r.failed and not r.open then 'internal' end, case when r.failed and not r.open then 'It failed in a benchmark.' end`;

/** Documents of a tenth of the rows, and processes of some years. */
function besides(total: number): string {
  const documents = Math.round(total / 10);
  return `
    insert into documents (id, user_id, content_sha256, filename, byte_size, page_count, letters, quality, created_at)
    select ${idOf('m', 'at')}, 'u-' || n / 200, decode(m, 'hex'), 'document ' || n || '.pdf', 1000, 12, 20000, 'good', at
    from (select n, md5('documents' || n) as m, now() - (${documents} - n) * interval '1 second' * (${SPAN_SECONDS}::float8 / ${documents}) as at from generate_series(1, ${documents}) n) made;
    insert into workers (id, label, role, version, host, pid, capabilities, started_at, stopped_at)
    select 'w-' || n, 'worker-' || n % 12, 'worker', 'v' || n / 40, 'bench', n, '{parse,citations}', now() - (20000 - n) * interval '1 hour', case when n < 19990 then now() end from generate_series(1, 20000) n`;
}

const parentOf: Partial<Record<Table, Table>> = { parse_items: 'parse_jobs', job_citations: 'analysis_jobs' };

const statements: Record<Table, (rows: number, sessions: number, parents: number) => string> = {
  parse_jobs: (rows, sessions) => `
    create temp table bench_parents as select n, id from ${numbered('parse_jobs', rows)};
    create unique index on bench_parents (n);
    insert into parse_jobs (id, user_id, session_id, user_email, open_children, total_children, ${LEASE})
    select r.id, ${owner('r.n', rows, sessions)}, 'Kunde.' || r.n::bigint * ${sessions} / ${rows + 1} / 4 || '@uni-' || r.n % 50 || '.example', case when r.open then 4 else 0 end, 4, ${lease('awaiting')} from ${numbered('parse_jobs', rows)}`,
  parse_items: (rows, sessions, parents) => `
    insert into parse_items (id, job_id, user_id, session_id, filename, byte_size, content_sha256, file_bytes, page_count, chunk_count, quality, ${LEASE})
    select r.id, b.id, ${owner('b.n', parents, sessions)}, ${pick(AUTHORS, 'substr(m, 20, 4)')} || '_' || ${pick(TOPICS, 'substr(m, 24, 4)')} || '_' || 1990 + r.n % 34 || ' (' || r.n || ').pdf', 1000, '\\x00',
      case when r.open then '\\x00'::bytea end, 12, 30, 'good', ${lease('queued')} from ${numbered('parse_items', rows)} join bench_parents b on b.n = (r.n + 3) / 4;
    drop table bench_parents`,
  analysis_jobs: (rows, sessions) => `
    create temp table bench_parents as select n, id from ${numbered('analysis_jobs', rows)};
    create unique index on bench_parents (n);
    insert into analysis_jobs (id, user_id, session_id, open_children, total_children, judge, ${LEASE})
    select r.id, ${owner('r.n', rows, sessions)}, case when r.open then 10 else 0 end, 10, 'offline-lexical', ${lease('awaiting')} from ${numbered('analysis_jobs', rows)}`,
  job_citations: (rows, sessions, parents) => `
    insert into job_citations (id, job_id, user_id, session_id, ordinal, claim, mark, page, char_from, char_to, verdict, judge, ${LEASE})
    select r.id, b.id, ${owner('b.n', parents, sessions)}, (r.n - 1) % 10, 'A sentence.', '(Bates, 2004)', 3, 10, 24, case when r.open or r.failed then null else 'supported' end, 'offline-lexical', ${lease('queued')}
    from ${numbered('job_citations', rows)} join bench_parents b on b.n = (r.n + 9) / 10;
    drop table bench_parents`,
  deployments: (rows) => `
    insert into deployments (id, project_id, slug, user_id, requested_by, state, lease_token, created_at, finished_at, live_release)
    select r.id, 'proj-' || substr(r.m, 1, 6) || '-' || r.n, 'app-' || substr(r.m, 7, 6) || '-' || r.n, 'u-' || r.n / 200, 'button', 'live', 1, r.at, r.at, '{}' from ${numbered('deployments', rows)}`,
};
