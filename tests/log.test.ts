import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { redacted } from '../server/log.js';

describe('the log', () => {
  it.each([
    ['postgres://app:s3cret@db:5432/x failed', 'postgres://app:***@db:5432/x failed'],
    ['token lb_abcdefghijklmnopqrstuvwxyz0123456789abcdefg', 'token lb_***'],
    ['GET /signin/abcdefghijkl 200', 'GET /signin/*** 200'],
    ['Bearer abc.def', 'Bearer ***'],
  ])('hides the secret in %s', (text, hidden) => {
    expect(redacted(text)).toBe(hidden);
  });

  it('writes one JSON line an event, without the fields that let a reader in', () => {
    const module = path.resolve(import.meta.dirname, '../build/server/log.js');
    const program = `import { createLogger } from ${JSON.stringify(module)};
      createLogger({ level: 'info', name: 'test' }).info({ event: 'x', password: 'hunter2', req: { headers: { cookie: 'hunter2' } }, error: new Error('postgres://a:hunter2@b/c') }, 'said');`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ level: 'info', name: 'test', event: 'x', msg: 'said' });
    expect(stdout).not.toContain('hunter2');
  });
});
