import { expect, it } from 'vitest';
import { parseTopic, parseTopics } from '../../server/console/live-topics.js';

const keys = (query: string) => parseTopics(query)?.map((topic) => topic.key);

it('reads topics that carry commas, ampersands and question marks of their own', () => {
  const topics = ['summary', 'queue:parse-items?state=queued,running&user=a%26b', 'row:parse-jobs:01a22d68-0de5-772e-88b9-c6f827fe44ce'];
  expect(keys(`x=1&topics=${topics.map(encodeURIComponent).join(',')}`)).toEqual(topics);
  expect(parseTopic(topics[1]!)).toMatchObject({ kind: 'queue', filters: { states: ['queued', 'running'], user: 'a&b' } });
});

it('reads a list of rows, and one row only where one is meant', () => {
  const [a, b] = ['01a22d68-0de5-772e-88b9-c6f827fe44ce', '01a22d68-0de5-772e-88b9-c6f827fe44cf'];
  expect(parseTopic(`rows:parse-items:${a},${b}`)).toMatchObject({ kind: 'rows', ids: [a, b] });
  expect(parseTopic(`row:parse-items:${a},${b}`)).toBeNull();
  expect(parseTopic(`rows:parse-items:${a},x`)).toBeNull();
});

it('takes each topic once', () => {
  expect(keys('topics=summary,workers,summary')).toEqual(['summary', 'workers']);
});

it('refuses what it does not know rather than guessing', () => {
  for (const query of ['', 'topics=', 'topic=summary', 'topics=summary,', 'topics=%E0%A4%A', 'topics=queue:unknown', 'topics=queue:parse-items:x', 'topics=row:parse-items',
    'topics=row:parse-items:DROP', 'topics=SUMMARY', `topics=queue:parse-items?user=${'x'.repeat(2_600)}`]) {
    expect([query, keys(query)]).toEqual([query, undefined]);
  }
});

it('lets a hostile filter be a filter that matches nothing in particular', () => {
  expect(parseTopic("queue:parse-items?state=running'--&before=x&older=-1&worker=%00")).toMatchObject({
    filters: { states: [], before: null, older: null, worker: null },
  });
});
