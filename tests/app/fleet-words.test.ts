import { expect, test } from 'vitest';
import type { WorkerView } from '../../server/console/workers.js';
import { liveWords, rolloutWords } from '~/format/fleet-words';
import type { RedeployHead, RolloutProcess } from '../../server/console/redeploy-fleet.js';

const live = (...all: [WorkerView['role'], string][]) => all.map(([role, version]) => ({ role, version, drainedBy: null }));

test.each([
  ['one version of all', live(['worker', 'a1'], ['worker', 'a1'], ['web', 'a1']), '2 workers and 1 web process live'],
  ['only the workers were redeployed', live(['worker', 'b2'], ['worker', 'b2'], ['web', 'a1']), '2 workers and 1 web process live, workers on b2, web on a1'],
  ['the workers roll', live(['worker', 'b2'], ['worker', 'a1'], ['web', 'a1']), '2 workers and 1 web process live, mixed versions of workers (b2, a1)'],
  ['the web processes roll', live(['worker', 'a1'], ['web', 'b2'], ['web', 'a1']), '1 worker and 2 web processes live, mixed versions of web (b2, a1)'],
  ['both roll', live(['worker', 'b2'], ['worker', 'a1'], ['web', 'b2'], ['web', 'a1']), '2 workers and 2 web processes live, mixed versions of workers (b2, a1), mixed versions of web (b2, a1)'],
  ['no worker lives', live(['web', 'a1']), '0 workers and 1 web process live'],
  ['web works inline', live(['web', 'a1'], ['inline', 'a1']), '0 workers and 1 web process live, 1 working inline'],
])('versions are mixed within a role and not between roles: %s', (_when, processes, text) => {
  expect(liveWords(processes)).toBe(text);
});

test('who is drained by an operator lives, is counted, and is said to take nothing', () => {
  const [one, other] = live(['worker', 'a1'], ['worker', 'a1']) as [ReturnType<typeof live>[number], ReturnType<typeof live>[number]];
  expect(liveWords([{ ...one, drainedBy: 'operator' }, other])).toBe('2 workers and 0 web processes live, 1 drained by an operator (takes nothing until resumed)');
  expect(liveWords([{ ...one, drainedBy: 'operator' }, { ...other, version: 'b2' }])).not.toMatch(/mixed/);
  expect(liveWords([{ ...one, role: 'inline', drainedBy: 'operator' }, { ...other, role: 'web' }])).toBe('0 workers and 1 web process live, 1 drained by an operator (takes nothing until resumed)');
  expect(liveWords([{ ...one, drainedBy: 'shutdown' }, other])).toBe('2 workers and 0 web processes live');
});

const rollout = (role: 'web' | 'worker', ...processes: Partial<RolloutProcess>[]) => rolloutWords({ redeploy: { role, fromVersion: 'v42', toVersion: 'v43' } as RedeployHead, processes: processes as RolloutProcess[] });
const old = (leaving: RolloutProcess['leaving']) => ({ side: 'outgoing', leaving }) as const;
const fresh = { side: 'incoming', leaving: 'working' } as const;

test.each([
  [rollout('worker', old('working'), old('draining'), old('clean'), fresh, fresh), 'Mixed versions of workers. v42: 1 works, 1 drains, 1 stopped clean. v43: 2 work.'],
  [rollout('web', old('draining'), fresh), 'Mixed versions of web. v42: 1 drains. v43: 1 works.'],
  [rollout('worker', old('drained'), fresh), 'v42: 1 drained by an operator (takes nothing until resumed). v43: 1 works.'],
  [rollout('worker', old('drained'), old('working'), { ...fresh, leaving: 'drained' }, { ...fresh, leaving: 'drained' }), 'v42: 1 works, 1 drained by an operator (takes nothing until resumed). v43: 2 drained by an operator (take nothing until resumed).'],
  [rollout('worker', old('clean'), old('killed'), fresh), 'v42: 1 stopped clean, 1 ended without a word. v43: 1 works.'],
])('a rolling redeploy says who is at what: %s', (said, text) => {
  expect(said).toBe(text);
});
