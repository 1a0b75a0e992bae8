/**
 * `npm run repro:publish-race [-- --naive] [-- --rounds N]`: three publishes of one app within 84 ms, three times: the first publish, a republish
 * of a live app, and an abandoned lock. Prints what the orchestrator was asked for; exit 0 only if that is exactly one build each time and the
 * losers were told of the winner. `--naive` runs the old read-then-write order instead, to show that this can fail. `--rounds` adds so many
 * rounds of three to twenty at once.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { v7 as uuidv7 } from 'uuid';
import { table } from '../report.js';
import { createNaiveTable, naivePublish } from './naive-publish.js';
import { buildStage, SETTINGS, waitFor, type Answer } from './publish-stage.js';

/** When the three requests of the incident came (ms). */
const OFFSETS = [0, 42, 84];
/** Apps that are raced for at the same time: a worker looks at a build every two seconds, and eight wait for that together. */
const LANES = 8;
const { values: options } = parseArgs({ options: { naive: { type: 'boolean', default: false }, rounds: { type: 'string', default: '0' } } });

const turns = new Map<string, Promise<boolean>>();
const stage = await buildStage();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stage.stop().finally(() => process.exit(130)));
try {
  process.stdout.write(`${options.naive ? 'The old order: read, clean up, write' : 'Two web processes, one worker'}; ${Object.entries(SETTINGS).map(([name, value]) => `${name}=${value}`).join(' ')}\n\n`);
  if (options.naive) await createNaiveTable(stage.pool);
  const rows = [await incident('first publish', 'first', nothing), await incident('republish of a live app', 'republish', makeLive), await incident('lock abandoned for ten minutes', 'abandoned', abandon)];
  process.stdout.write(`${table(['three publishes within 84 ms', 'builds asked for', 'accepted', 'in progress', 'other', 'verdict'], rows.map((row) => row.cells))}\n`);
  const rounds = Number(options.rounds);
  const clean = rounds > 0 && !options.naive ? await manyRounds(rounds) : true;
  process.exitCode = rows.every((row) => row.right) && clean ? 0 : 1;
  process.stdout.write(process.exitCode === 0 ? '\nExactly one build each time.\n' : '\nNot exactly one build each time.\n');
} finally {
  await stage.stop();
}

interface Row { cells: string[]; right: boolean }

async function incident(what: string, project: string, prepare: (project: string) => Promise<void>): Promise<Row> {
  await prepare(project);
  const before = orders(project);
  const ask = (caller: number) => options.naive ? naivePublish(stage.pool, stage.stub, project) : stage.publish(caller, project);
  const answers = await Promise.all(OFFSETS.map(async (offset, caller) => {
    await pause(offset);
    return ask(caller);
  }));
  if (!options.naive) await end(project);
  return judge(what, answers, orders(project) - before);
}

/** Distinct orders: a request that is sent again under the same key is the same order. One that was refused shows as a wrong count at the end. */
function orders(project: string): number {
  return stage.stub.builds.state.builds.filter((build) => build.slug === project).length;
}

function judge(what: string, answers: Answer[], asked: number): Row {
  const winners = answers.filter((answer) => answer.status === 202);
  const losers = answers.filter((answer) => answer.code === 'publish_in_progress' && answer.deploymentId === winners[0]?.deploymentId);
  const others = answers.length - winners.length - losers.length;
  const right = asked === 1 && winners.length === 1 && others === 0;
  return { cells: [what, String(asked), String(winners.length), String(losers.length), String(others), right ? 'right' : 'WRONG'], right };
}

/** Lets the build that runs end, and waits for the deployment to say so. */
async function end(project: string): Promise<void> {
  const build = await waitFor('a build', () => stage.stub.builds.running.find((one) => one.slug === project));
  stage.stub.builds.finish(build.buildId);
  await waitFor('the release', async () => (await stage.pool.query(`select 1 from deployments where project_id = $1 and state = 'live'`, [project])).rowCount === 1);
}

async function nothing(): Promise<void> {}

async function makeLive(project: string): Promise<void> {
  if (options.naive) await stage.pool.query(`insert into naive_deployments values ($1, $2, 'live', now())`, [uuidv7(), project]);
  else await stage.publish(0, project).then(() => end(project));
}

/** As a crash of everything leaves it: building, nobody drives it, silent. `run_after` keeps the repro's own worker from adopting it first. */
async function abandon(project: string): Promise<void> {
  const id = uuidv7();
  if (options.naive) {
    await stage.pool.query(`insert into naive_deployments values ($1, $2, 'building', now() - interval '10 minutes')`, [id, project]);
    return;
  }
  await stage.pool.query(
    `with row as (
       insert into deployments (id, project_id, slug, user_id, requested_by, state, published_at, heartbeat_at, run_after)
       values ($1, $2, $2, 'user-1', 'tab', 'building', now() - interval '11 minutes', now() - interval '10 minutes', now() + interval '1 hour') returning id)
     insert into deployment_attempts (deployment_id, publish_no, user_id, requested_by) select id, 1, 'user-1', 'tab' from row`, [id, project]);
}

async function manyRounds(rounds: number): Promise<boolean> {
  let [begun, done, wrong] = [0, 0, 0];
  const lane = async () => {
    for (let round = begun++; round < rounds; round = begun++) {
      if (!await oneRound(round)) wrong += 1;
      if (++done % 100 === 0) process.stdout.write(`${done} rounds, ${wrong} wrong\n`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const { rows } = await stage.pool.query<{ entries: number; publishes: number }>(
    `select (select count(*)::int from deployment_attempts a join deployments d on d.id = a.deployment_id where d.project_id like 'round-%') as entries,
            (select sum(publish_no)::int from deployments where project_id like 'round-%') as publishes`);
  process.stdout.write(`${rounds} rounds of three to twenty at once: ${wrong} wrong; ${rows[0]!.publishes} publishes, ${rows[0]!.entries} entries in the history\n`);
  return wrong === 0 && rows[0]!.publishes === rounds && rows[0]!.entries === rounds && stage.stub.builds.counts.refusedAtCreation === 0;
}

/** Rounds of one lane follow each other on the same app: a first publish, then republishes. */
async function oneRound(round: number): Promise<boolean> {
  const project = `round-${round % LANES}-${Math.floor(round / (LANES * 20))}`;
  const turn = (turns.get(project) ?? Promise.resolve(true)).then(async () => {
    const before = orders(project);
    const answers = await Promise.all(Array.from({ length: 3 + Math.floor(Math.random() * 18) }, (_, caller) => stage.publish(caller, project)));
    await end(project);
    const { right, cells } = judge(`round ${round}`, answers, orders(project) - before);
    if (!right) process.stdout.write(`${cells.join('  ')}\n`);
    return right;
  });
  turns.set(project, turn);
  return turn;
}
