/**
 * The schema as SQL, read from the catalogs (the embedded Postgres ships no pg_dump): tables, columns, constraints, indexes, functions and
 * triggers of the public schema, in the order of their names (columns
 * in theirs), so that the same migrations always give the same text.
 */
import type pg from 'pg';

type Db = Pick<pg.ClientBase, 'query'>;
type Table = { oid: number; name: string; options: string | null };
type Column = { name: string; type: string; required: boolean; fallback: string | null; identity: string; generated: string; storage: string; usual: string };

const HEADER = '-- The schema that sql/migrations add up to. Made by npm run schema, compared by npm run check. Not applied by anything.\n';

/** Extensions first, then a block a table, then functions. The bookkeeping of migrations is left out. */
export async function dumpSchema(db: Db): Promise<string> {
  const blocks = [HEADER, ...await extensions(db)];
  for (const table of await tables(db)) blocks.push(await tableBlock(db, table));
  return `${[...blocks, ...await functions(db)].join('\n')}`;
}

async function extensions(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(`select extname as name from pg_extension where extname <> 'plpgsql' order by extname`);
  return rows.map(({ name }) => `create extension ${name};\n`);
}

async function tables(db: Db): Promise<Table[]> {
  const { rows } = await db.query<Table>(`
    select oid::int, relname as name, array_to_string(reloptions, ', ') as options from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname <> 'schema_migrations' order by relname`);
  return rows;
}

async function tableBlock(db: Db, table: Table): Promise<string> {
  const columns = await columnsOf(db, table);
  const lines = [...columns.map(columnLine), ...await constraintsOf(db, table)].map(line => `  ${line}`);
  const options = table.options ? ` with (${table.options})` : '';
  const after = [...storageOf(table, columns), ...await indexesOf(db, table), ...await triggersOf(db, table)];
  return [`create table ${table.name} (\n${lines.join(',\n')}\n)${options};`, ...after, ''].join('\n');
}

async function columnsOf(db: Db, table: Table): Promise<Column[]> {
  const { rows } = await db.query<Column>(`
    select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required, pg_get_expr(d.adbin, d.adrelid) as fallback,
      a.attidentity as identity, a.attgenerated as generated, a.attstorage as storage, t.typstorage as usual
    from pg_attribute a join pg_type t on t.oid = a.atttypid left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped order by a.attnum`, [table.oid]);
  return rows;
}

function columnLine(column: Column): string {
  const parts = [column.name, column.type];
  if (column.identity) parts.push(`generated ${column.identity === 'a' ? 'always' : 'by default'} as identity`);
  else if (column.generated) parts.push(`generated always as (${column.fallback}) stored`);
  else if (column.fallback !== null) parts.push(`default ${column.fallback}`);
  if (column.required) parts.push('not null');
  return parts.join(' ');
}

const storages: Record<string, string> = { p: 'plain', e: 'external', m: 'main', x: 'extended' };

function storageOf(table: Table, columns: Column[]): string[] {
  return columns.filter(({ storage, usual }) => storage !== usual).map(({ name, storage }) => `alter table ${table.name} alter column ${name} set storage ${storages[storage]};`);
}

async function constraintsOf(db: Db, table: Table): Promise<string[]> {
  const { rows } = await db.query<{ line: string }>(`
    select format('constraint %I %s', conname, pg_get_constraintdef(oid)) as line from pg_constraint
    where conrelid = $1 and contype in ('p', 'u', 'c', 'f', 'x') order by array_position('{p,u,x,f,c}'::"char"[], contype), conname`, [table.oid]);
  return rows.map(row => row.line);
}

/** Those that back a constraint are told by it. */
async function indexesOf(db: Db, table: Table): Promise<string[]> {
  const { rows } = await db.query<{ line: string }>(`
    select replace(pg_get_indexdef(i.indexrelid), ' ON public.', ' ON ') || ';' as line from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = $1 and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x')) order by c.relname`, [table.oid]);
  return rows.map(row => row.line);
}

async function triggersOf(db: Db, table: Table): Promise<string[]> {
  const { rows } = await db.query<{ line: string }>(
    `select pg_get_triggerdef(oid) || ';' as line from pg_trigger where tgrelid = $1 and not tgisinternal order by tgname`, [table.oid]);
  return rows.map(row => row.line);
}

async function functions(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ body: string }>(`
    select pg_get_functiondef(p.oid) as body from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prokind in ('f', 'p')
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e') order by p.proname, pg_get_function_identity_arguments(p.oid)`);
  return rows.map(row => `${row.body.trimEnd()};\n`);
}
