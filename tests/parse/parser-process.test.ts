import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { PermanentError, TransientError } from '../../server/lease/errors.js';
import { extractPdf } from '../../server/parse/extract.js';
import { bombPdf, endlessPdf, englishText, textPdf } from '../fixtures/pdfs.js';
import { until } from '../support/until.js';
import { cpuTicks, oneParser, parsersOf, peakMemoryMb, settledParser } from './parsers.js';

const limits = { maxSeconds: 60, maxMemoryMb: 512, maxPages: 50 };

afterEach(() => {
  expect(parsersOf()).toEqual([]);
});

function start(bytes: Buffer, changed: Partial<typeof limits> = {}) {
  const controller = new AbortController();
  const outcome = extractPdf(bytes, { signal: controller.signal, limits: { ...limits, ...changed } }).catch((error: unknown) => error);
  return { controller, outcome };
}

test('a file that takes too long is given up in time', async () => {
  const from = performance.now();
  const failure = await start(endlessPdf(), { maxSeconds: 2 }).outcome;
  expect(failure).toBeInstanceOf(PermanentError);
  expect(failure).toMatchObject({ code: 'took_too_long', message: expect.stringContaining('2 s') });
  expect(performance.now() - from).toBeLessThan(4_000);
});

test('a bomb is ended near its memory limit, far below what it would need', async () => {
  const { outcome } = start(bombPdf(), { maxMemoryMb: 256 });
  const pid = await settledParser();
  let peak = 0;
  const watching = setInterval(() => { peak = Math.max(peak, peakMemoryMb(pid)); }, 10);
  expect(await outcome).toMatchObject({ code: 'used_too_much_memory' });
  clearInterval(watching);
  expect(peak).toBeGreaterThan(0);
  expect(peak).toBeLessThan(512);
}, 60_000);

test('while a parser works as hard as it can, this process stays responsive', async () => {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  await Promise.all([start(endlessPdf(), { maxSeconds: 2 }).outcome, start(bombPdf(), { maxMemoryMb: 256 }).outcome]);
  delay.disable();
  expect(delay.max / 1e6).toBeLessThan(1_000);
});

test.each(['SIGABRT', 'SIGKILL', 'SIGSEGV'] as const)('a parser that dies of %s is a crash that may be tried again', async (signal) => {
  const { outcome } = start(endlessPdf());
  process.kill(await settledParser(), signal);
  const failure = await outcome;
  expect(failure).toBeInstanceOf(TransientError);
  expect(failure).toMatchObject({ code: 'parser_crashed', message: expect.stringContaining(signal) });
});

test('one that crashes leaves the others alone', async () => {
  const { outcome } = start(endlessPdf());
  const pid = await settledParser();
  const neighbours = [1, 2].map(async () => start(await textPdf([englishText])).outcome);
  process.kill(pid, 'SIGABRT');
  expect(await outcome).toMatchObject({ code: 'parser_crashed' });
  expect(await Promise.all(neighbours)).toMatchObject([{ quality: 'good' }, { quality: 'good' }]);
});

test('a signal to the whole process group decides nothing about the file', async () => {
  const { outcome, controller } = start(endlessPdf());
  const pid = await settledParser();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal);
  const before = cpuTicks(pid);
  await until(() => cpuTicks(pid) > before + 20, { what: 'the parser working on' });
  const given = new Error('given back');
  controller.abort(given);
  expect(await outcome).toBe(given);
});

test('an abort ends the parser before the promise settles, at any moment of its life', async () => {
  for (const moment of [0, 5, 50, 200, 500]) {
    const { outcome, controller } = start(endlessPdf());
    const timer = setTimeout(() => controller.abort(new Error(`after ${moment} ms`)), moment);
    expect(await outcome).toMatchObject({ message: `after ${moment} ms` });
    clearTimeout(timer);
    expect(parsersOf()).toEqual([]);
  }
});

test('an abort that came before the start starts nothing', async () => {
  const reason = new Error('too late');
  await expect(extractPdf(endlessPdf(), { signal: AbortSignal.abort(reason), limits })).rejects.toBe(reason);
});

test('the parser sees nothing of our environment', async () => {
  process.env.LEASEBOARD_TEST_SECRET = 'do not tell';
  const { outcome, controller } = start(endlessPdf());
  const pid = await settledParser();
  const environment = fs.readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter((line) => line !== '').map((line) => line.split('=')[0]);
  controller.abort(new Error('seen enough'));
  await outcome;
  delete process.env.LEASEBOARD_TEST_SECRET;
  expect(environment.filter((name) => !name?.startsWith('NODE_CHANNEL'))).toEqual([]);
});

test.each([['SIGKILL', 60], ['SIGSTOP', 3]] as const)('a spinning parser whose parent gets %s does not outlive it or its own limits', async (signal, maxSeconds) => {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'leaseboard-parse-')), 'endless.pdf');
  fs.writeFileSync(file, endlessPdf());
  const built = new URL('../../build/server/parse/extract.js', import.meta.url);
  const parent = spawn(process.execPath, ['--input-type=module', '-e', `
    import fs from 'node:fs';
    const { extractPdf } = await import(${JSON.stringify(built.href)});
    await extractPdf(fs.readFileSync(${JSON.stringify(file)}), { signal: new AbortController().signal, limits: { maxSeconds: ${maxSeconds}, maxMemoryMb: 512, maxPages: 9 } });
  `], { stdio: 'ignore' });
  onTestFinished(() => {
    parent.kill('SIGKILL');
    fs.rmSync(path.dirname(file), { recursive: true });
  });
  const parser = await settledParser(parent.pid);
  const before = cpuTicks(parser);
  await until(() => cpuTicks(parser) > before + 60, { what: 'the parser spinning' });
  parent.kill(signal);
  await until(() => cpuTicks(parser) === 0, { timeoutMs: 15_000, what: 'the end of the parser' });
});

test('a parser that dies while its file is still being sent has crashed; the broken pipe is no error of the source', async () => {
  let goOn: () => void = () => undefined;
  const killed = new Promise<void>((resolve) => { goOn = resolve; });
  async function* slowSource(): AsyncGenerator<Buffer> {
    yield Buffer.from('%PDF-1.7\n');
    await killed;
    for (let piece = 0; piece < 64; piece++) yield Buffer.alloc(1 << 20);
  }
  const outcome = extractPdf(slowSource(), { signal: new AbortController().signal, limits }).catch((error: unknown) => error);
  process.kill(await oneParser(), 'SIGKILL');
  goOn();
  expect(await outcome).toMatchObject({ name: 'TransientError', code: 'parser_crashed' });
});
