import pg from 'pg';

/**
 * Asks a database again and again whether anything is left to do. The clock of a drain stops when the last row is terminal in the database, not
 * when its handler returned; the connection is opened before that clock starts, so that what is measured is not the asking.
 * @param openSql a statement with one boolean column, `open`, that reads an index.
 */
export async function drainedCheck(url: string, openSql: string): Promise<{ drained(): Promise<void>; close(): Promise<void> }> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(openSql);
  return {
    async drained() {
      while ((await client.query(openSql)).rows[0].open) { /* one question after the other is its pace */ }
    },
    close: () => client.end(),
  };
}
