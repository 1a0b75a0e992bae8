/**
 * An orchestrator that builds nothing: for tests, repros, the demo and the embedded start. It speaks the same API, and misbehaves when it is told to.
 * It survives restarts of ours because it is another process (or another part of the one that starts them); with `file` also its own.
 */
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { StubBuilds, type StubState } from './stub-builds.js';
import { STUB_PATH } from './stub-url.js';

/** What it does beside the agreement. Counts say for how many further requests. */
export interface StubBehaviour {
  /** A build ends by itself after this long (ms); null: only when it is told to. */
  buildMs: number | null;
  /** What builds end with: an error, or undefined for a release. */
  buildError: string | undefined;
  /** Every answer waits this long (ms). */
  slowMs: number;
  /** Requests answered with this status. */
  refuse: { count: number; status: number; retryAfterSeconds?: number };
  /** Requests that are never answered. */
  hang: number;
  /** Requests for a build that are carried out and never answered: the connection breaks. */
  loseAnswers: number;
  /** Builds go on although they are cancelled. */
  stubborn: boolean;
}

export interface StubOrchestrator {
  url: string;
  token: string;
  builds: StubBuilds;
  behave(change: Partial<StubBehaviour>): void;
  close(): Promise<void>;
}

export interface StubOptions {
  token: string;
  port?: number;
  /** Where its memory is kept across its own restarts. */
  file?: string;
  behaviour?: Partial<StubBehaviour>;
}

const WELL_BEHAVED: StubBehaviour = { buildMs: 3_000, buildError: undefined, slowMs: 0, refuse: { count: 0, status: 503 }, hang: 0, loseAnswers: 0, stubborn: false };
const MAX_BODY = 64 * 1024;

export async function startStubOrchestrator({ token, port = 0, file, behaviour: told }: StubOptions): Promise<StubOrchestrator> {
  const behaviour: StubBehaviour = { ...WELL_BEHAVED, ...told };
  const builds: StubBuilds = new StubBuilds(file ? readKept(file) : undefined, () => file && keep(file, builds.state));
  const timers = new Set<NodeJS.Timeout>();
  const server = http.createServer((req, res) => void answer(req, res).catch(() => res.destroy()));

  function finishLater(buildId: string): void {
    if (behaviour.buildMs === null) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      builds.finish(buildId, behaviour.buildError);
    }, behaviour.buildMs);
    timers.add(timer);
  }

  async function answer(req: http.IncomingMessage, res: http.ServerResponse): Promise<void> {
    const body = await readBody(req);
    if (req.headers.authorization !== `Bearer ${token}`) return send(res, 401, { error: 'unauthorized' });
    if (behaviour.hang > 0) return void behaviour.hang--;
    if (behaviour.slowMs > 0) await new Promise((resolve) => setTimeout(resolve, behaviour.slowMs));
    if (behaviour.refuse.count > 0) {
      behaviour.refuse.count -= 1;
      const { status, retryAfterSeconds } = behaviour.refuse;
      return send(res, status, { error: 'told to refuse' }, retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) });
    }
    const path = (req.url ?? '').replace(STUB_PATH, '');
    if (req.method === 'POST' && path === '/builds') return create(req, res, body);
    const [, id = '', verb] = /^\/builds\/([\w-]+)(\/cancel)?$/.exec(path) ?? [];
    const build = builds.find(id);
    if (!build) return send(res, 404, { error: 'unknown build' });
    if (verb && req.method === 'POST') builds.cancel(id, !behaviour.stubborn);
    const { state, releaseId, url, error } = build;
    send(res, 200, { state, releaseId, url, error });
  }

  function create(req: http.IncomingMessage, res: http.ServerResponse, body: string): void {
    const { deploymentId, slug, fence } = JSON.parse(body) as { deploymentId: string; slug: string; fence: number };
    const made = builds.create({ deploymentId, slug, fence, key: String(req.headers['idempotency-key']) });
    if (!made) return send(res, 409, { error: 'a higher fence has been seen' });
    if (made.fresh) finishLater(made.build.buildId);
    if (behaviour.loseAnswers > 0) {
      behaviour.loseAnswers -= 1;
      return void res.destroy();
    }
    send(res, 201, { buildId: made.build.buildId });
  }

  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  for (const build of builds.running) finishLater(build.buildId);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${STUB_PATH}`, token, builds,
    behave: (change) => void Object.assign(behaviour, change),
    async close() {
      for (const timer of timers) clearTimeout(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(res: http.ServerResponse, status: number, body: unknown, headers: http.OutgoingHttpHeaders = {}): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

async function readBody(req: http.IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of req as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_BODY) throw new Error('body too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** A file that was cut off by a crash counts as none: the stub then knows no builds, as after the loss of a real one's memory. */
function readKept(file: string): StubState | undefined {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as StubState;
  } catch {
    return undefined;
  }
}

function keep(file: string, state: StubState): void {
  fs.writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
  fs.renameSync(`${file}.new`, file);
}
