import { beforeAll, expect, test } from 'vitest';
import { noFilters } from '~/format/filters';
import { csvLine } from '../../server/console/csv.js';
import { exportRows } from '../../server/console/queue-export.js';
import { createKysely } from '../../server/db/kysely.js';
import { parseItems } from '../../server/lease/queues.js';
import type { TestDatabase } from '../support/database.js';
import { testDatabase } from '../support/database.js';
import { itemFrom } from './rows.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
  for (let n = 0; n < 5; n += 1) await itemFrom(database.pool, 100 - n, { filename: n === 4 ? '=HYPERLINK("http://x","y")\r\n.pdf' : `paper-${n}.pdf` });
  await itemFrom(database.pool, 5, { user_id: 'else' });
});

async function whole(format: 'csv' | 'json', cap?: number) {
  let text = '';
  for await (const part of exportRows(createKysely(database.pool), parseItems, { ...noFilters, user: 'user-1' }, format, cap)) text += part;
  return text;
}

test('a CSV holds the filtered rows newest first, and a file name cannot become a formula', async () => {
  const lines = (await whole('csv')).split(/\r\n(?=[0-9a-f]{8}-|$)/);
  expect(lines).toHaveLength(7);
  expect(lines[0]).toMatch(/^id,state,attempt,.*,filename,byte_size,/);
  expect(lines[1]).toContain(`"'=HYPERLINK(""http://x"",""y"")\r\n.pdf"`);
  expect(lines[5]).toContain('paper-0.pdf');
});

test('JSON says how many rows it has and that they are all', async () => {
  const parsed = JSON.parse(await whole('json')) as { rows: { columns: { filename: string } }[]; count: number; complete: boolean };
  expect(parsed).toMatchObject({ count: 5, complete: true });
  expect(parsed.rows.map((row) => row.columns.filename)).toContain('paper-3.pdf');
});

test('an export that stops at the cap says so', async () => {
  expect(await whole('csv', 2)).toMatch(/Stopped after 2 rows: more match\. Narrow the filter to export the rest\.\r\n$/);
  expect(JSON.parse(await whole('json', 2))).toMatchObject({ count: 2, complete: false });
  expect(JSON.parse(await whole('json', 5))).toMatchObject({ count: 5, complete: true });
});

test.each([
  ['=1+1', "'=1+1"], ['+1', "'+1"], ['-1', "'-1"], ['@x', "'@x"], ['\tx', "'\tx"], ['  =1', "'  =1"], ['a,b', '"a,b"'], ['a"b', '"a""b"'], ['plain', 'plain'],
])('the text %j is written as %j', (text, cell) => expect(csvLine([text])).toBe(`${cell}\r\n`));

test('numbers stay numbers and nothing stays empty', () => expect(csvLine([-1, null, 0])).toBe('-1,,0\r\n'));
