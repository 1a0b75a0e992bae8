import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { cleanText } from '../../server/db/text.js';
import { testDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
beforeAll(async () => { database = await testDatabase(); });

describe('clean text', () => {
  it('drops NUL, replaces lone surrogates, and leaves everything else alone', () => {
    expect(cleanText('a\0b')).toBe('ab');
    expect(cleanText('a\ud800b\udc00')).toBe('a\ufffdb\ufffd');
    expect(cleanText('naïve 🙂 \u0001')).toBe('naïve 🙂 \u0001');
  });

  it('is accepted by Postgres as text and as jsonb, and comes back as it went in', async () => {
    await fc.assert(fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 50 }), fc.constantFrom('', '\0', '\ud800', '\udfff'), async (text, evil) => {
      const clean = cleanText(text + evil + text);
      const { rows } = await database.pool.query('select $1::text as text, $2::jsonb as json', [clean, JSON.stringify({ clean })]);
      expect(rows[0]).toEqual({ text: clean, json: { clean } });
    }), { numRuns: 100 });
  });
});
