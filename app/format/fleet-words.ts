import type { WorkerView } from '../../server/console/workers.js';
import type { DrainBoard } from '../../server/console/redeploy-board.js';
import type { RolloutProcess } from '../../server/console/redeploy-fleet.js';
import { counted } from './count';

type Live = Pick<WorkerView, 'role' | 'version' | 'drainedBy'>;

/** Workers are counted as the rail counts them; web processes beside them, and said if these do the workers' work. */
export function liveWords(live: readonly Live[]): string {
  const of = (role: WorkerView['role'], those = live) => those.filter((worker) => worker.role === role).length;
  const atWork = live.filter(({ drainedBy }) => drainedBy !== 'operator');
  const inline = of('inline', atWork) > 0 ? `, ${of('inline', atWork)} working inline` : '';
  const drained = live.length > atWork.length ? `, ${drainedWords(live.length - atWork.length)}` : '';
  return `${counted(of('worker'), 'worker')} and ${counted(of('web'), 'web process', 'web processes')} live${inline}${drained}${versionWords(atWork)}`;
}

/**
 * Versions at work are mixed within a role, as a redeploy is one of a role (server/lease/redeploys.ts). Where each role has one version by
 * itself and they differ, nothing is under way: it is only said which.
 */
function versionWords(live: readonly Live[]): string {
  const workers = versionsOf(live, ['worker']);
  const web = versionsOf(live, ['web', 'inline']); // a web process takes its inline worker with it
  const mixed = [mixedWords('workers', workers), mixedWords('web', web)].filter((words) => words !== '');
  if (mixed.length > 0) return `, ${mixed.join(', ')}`;
  return workers.length === 1 && web.length === 1 && workers[0] !== web[0] ? `, workers on ${workers[0]}, web on ${web[0]}` : '';
}

function mixedWords(who: string, versions: readonly string[]): string {
  return versions.length > 1 ? `mixed versions of ${who} (${versions.join(', ')})` : '';
}

function versionsOf(live: readonly Live[], roles: readonly WorkerView['role'][]): string[] {
  return [...new Set(live.filter(({ role }) => roles.includes(role)).map(({ version }) => version))];
}

/** "v42: 2 work, 1 drained by an operator, 1 stopped clean. v43: 2 work." More than one version at work is said first. */
export function rolloutWords({ redeploy: { role, fromVersion, toVersion }, processes }: Pick<DrainBoard, 'redeploy' | 'processes'>): string {
  const [old, fresh] = (['outgoing', 'incoming'] as const).map((side) => countLeaving(processes.filter((process) => process.side === side)));
  const mixed = old!.working + old!.draining > 0 && fresh!.working > 0 ? `Mixed versions of ${role === 'worker' ? 'workers' : 'web'}. ` : '';
  return `${mixed}${fromVersion}: ${leavingWords(old!)}. ${toVersion}: ${leavingWords(fresh!)}.`;
}

/** A process that lives and takes nothing until a person says so. */
export function drainedWords(n: number): string {
  return `${n} drained by an operator (${n === 1 ? 'takes' : 'take'} nothing until resumed)`;
}

type Leavings = Record<RolloutProcess['leaving'], number>;

function countLeaving(processes: readonly RolloutProcess[]): Leavings {
  const counts: Leavings = { working: 0, drained: 0, draining: 0, clean: 0, killed: 0 };
  for (const { leaving } of processes) counts[leaving] += 1;
  return counts;
}

function leavingWords({ working, drained, draining, clean, killed }: Leavings): string {
  const said = [
    working > 0 ? `${working} ${working === 1 ? 'works' : 'work'}` : '', drained > 0 ? drainedWords(drained) : '', draining > 0 ? `${draining} ${draining === 1 ? 'drains' : 'drain'}` : '',
    clean > 0 ? `${clean} stopped clean` : '', killed > 0 ? `${killed} ended without a word` : '',
  ].filter((part) => part !== '');
  return said.length === 0 ? 'none' : said.join(', ');
}
