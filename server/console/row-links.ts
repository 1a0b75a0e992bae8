import { sql } from 'kysely';
import type { QueueDefinition } from '../lease/queues.js';
import { queueByTable } from '../lease/queues.js';
import type { Reader } from './read.js';
import { ms } from './read.js';
import { selectRows, tableOf } from './row-select.js';
import type { RowView } from './row-view.js';

export interface DocumentView {
  id: string;
  filename: string;
  pages: number;
  chunks: number;
  embedded: number;
  quality: string;
  failedPages: number[];
  createdAt: number;
}

/** A row's neighbours. Document rows carry names and counts, never text. */
export interface LinkedRows {
  parent: { slug: string; noun: string; row: RowView } | null;
  children: { slug: string; title: string; rows: RowView[]; more: boolean } | null;
  document: DocumentView | null;
  session: { id: string; userId: string; documents: number } | null;
}

/** An upload has at most MAX_UPLOAD_FILES (20 by default) files, a thesis hundreds of citations; more are reached through the queue page's session filter. */
const CHILDREN = 100;

export async function readLinks(reader: Reader, queue: QueueDefinition, row: RowView): Promise<LinkedRows> {
  return {
    parent: await readParent(reader, queue, row),
    children: await readChildren(reader, queue, row.id),
    document: queue.table === 'parse_items' ? await readDocument(reader, row.id) : null,
    session: await readSession(reader, row),
  };
}

async function readParent(reader: Reader, queue: QueueDefinition, row: RowView): Promise<LinkedRows['parent']> {
  const parent = queue.parent && queueByTable(queue.parent.queue);
  const id = queue.parent && row.columns[queue.parent.column];
  if (!parent || typeof id !== 'string') return null;
  const [found] = await selectRows(reader, parent, [id]);
  return found ? { slug: parent.slug, noun: parent.noun, row: found } : null;
}

/** In their order; of too many, what is open is kept before what failed, and that before what is done. */
async function readChildren(reader: Reader, queue: QueueDefinition, id: string): Promise<LinkedRows['children']> {
  const children = queue.children && queueByTable(queue.children.queue);
  if (!queue.children || !children) return null;
  const { rows } = await sql<{ id: string }>`select id from ${tableOf(children)}
    where ${sql.ref(queue.children.column)} = ${id}::uuid order by finished_at is not null, state = 'succeeded', id limit ${sql.lit(CHILDREN + 1)}`.execute(reader);
  const ids = rows.slice(0, CHILDREN).map((child) => child.id);
  const found = await selectRows(reader, children, ids);
  return { slug: children.slug, title: children.title, rows: found.reverse(), more: rows.length > CHILDREN };
}

async function readDocument(reader: Reader, itemId: string): Promise<DocumentView | null> {
  const { rows } = await sql<DocumentView>`
    select d.id, d.filename, d.page_count as pages, d.quality, d.failed_pages as "failedPages", ${ms('d.created_at')} as "createdAt",
      (select count(*)::int from document_chunks c where c.document_id = d.id) as chunks,
      (select count(*)::int from document_chunks c where c.document_id = d.id and c.embedding_model is not null) as embedded
    from parse_items i join documents d on d.id = i.document_id where i.id = ${itemId}::uuid`.execute(reader);
  return rows[0] ?? null;
}

async function readSession(reader: Reader, row: RowView): Promise<LinkedRows['session']> {
  const { session_id: id, user_id: userId } = row.columns;
  if (typeof id !== 'string' || typeof userId !== 'string') return null;
  const { rows } = await sql<{ documents: number }>`
    select count(*)::int as documents from session_sources where user_id = ${userId} and session_id = ${id}`.execute(reader);
  return { id, userId, documents: rows[0]!.documents };
}
