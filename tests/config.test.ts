import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig, withDatabase } from '../server/config.js';
import { exampleText } from '../server/config-example.js';

function faultsOf(env: Record<string, string>, needs = {}): string[] {
  try {
    loadConfig(env, needs);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

describe('the configuration', () => {
  it('has a default for everything, with the embedded database', () => {
    const config = loadConfig({});
    expect(config).toMatchObject({ embedded: true, databaseUrl: '', port: 3000, host: '127.0.0.1', leaseSeconds: 120, workerConcurrency: 4, workerCapabilities: ['parse', 'citations', 'publish'], kickChannel: 'leaseboard_kick' });
    expect(fs.existsSync(path.join(config.projectRoot, 'package.json'))).toBe(true);
  });

  it('takes blank for unset', () => {
    expect(loadConfig({ PORT: '', LEASE_SECONDS: '  ', DATABASE_URL: '' })).toEqual(loadConfig({}));
  });

  it('reports every fault at once, each with its name, what was expected and what was found', () => {
    const faults = faultsOf({ PORT: 'http', LEASE_SECONDS: '-3', ANALYSIS_WORKER_MODE: 'near', WORKER_CAPABILITIES: 'parse,fly', READ_ONLY: 'perhaps', PUBLIC_URL: 'ftp://x' });
    expect(faults).toEqual([
      'PORT: expected a whole number from 0 to 65535, found "http"',
      'PUBLIC_URL: expected a URL starting with http:// or https://, found "ftp://x"',
      'READ_ONLY: expected true or false, found "perhaps"',
      'ANALYSIS_WORKER_MODE: expected one of remote, inline, found "near"',
      'WORKER_CAPABILITIES: expected a comma-separated list of parse, citations, publish, found "parse,fly"',
      'LEASE_SECONDS: expected a number from 0.05 to 604800, found "-3"',
    ]);
  });

  it('refuses a heartbeat that a lease could miss', () => {
    expect(faultsOf({ LEASE_SECONDS: '10', HEARTBEAT_SECONDS: '6' })).toEqual(['HEARTBEAT_SECONDS: expected at most half of LEASE_SECONDS (10), found 6']);
  });

  it('never repeats a secret in a fault', () => {
    expect(faultsOf({ SESSION_SECRET: 'hunter2' })).toEqual(['SESSION_SECRET: expected 32 characters or more, found something else']);
    expect(() => loadConfig({ SESSION_SECRET: 'hunter2', DATABASE_URL: 'postgres://db/leaseboard' }, { sessionSecret: true })).toThrow(/has 1 fault:\n[^\n]*found something else$/);
    expect(faultsOf({ DATABASE_URL: 'mysql://root:hunter2@db' })).toEqual(['DATABASE_URL: expected a URL starting with postgres:// or postgresql://, found something else']);
  });

  it('needs a session secret only for the web process on a database that is not ours', () => {
    const DATABASE_URL = 'postgres://db/leaseboard';
    expect(faultsOf({ DATABASE_URL })).toEqual([]);
    expect(faultsOf({}, { sessionSecret: true })).toEqual([]);
    expect(faultsOf({ DATABASE_URL }, { sessionSecret: true })).toHaveLength(1);
  });

  it('believes no proxy unless its address or network is named', () => {
    expect(loadConfig({}).trustedProxies).toEqual([]);
    expect(loadConfig({ TRUSTED_PROXIES: '10.0.0.0/8, ::1' }).trustedProxies).toEqual(['10.0.0.0/8', '::1']);
    for (const wrong of ['true', '1', '10.0.0.0/33', '10.0.0.0/', 'proxy.local', ',']) expect(faultsOf({ TRUSTED_PROXIES: wrong })).toHaveLength(1);
  });

  it('takes a provider whole or not at all, and over https unless it is on this machine', () => {
    const whole = { OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'console', OIDC_CLIENT_SECRET: 'hunter2', PUBLIC_URL: 'https://console.example' };
    expect(loadConfig(whole, { sessionSecret: true })).toMatchObject({ oidcIssuer: 'https://id.example', oidcRoleClaim: 'roles' });
    expect(faultsOf({ ...whole, OIDC_ISSUER: 'http://127.0.0.1:9000/realms/x' })).toEqual([]);
    expect(faultsOf({ ...whole, OIDC_ISSUER: 'http://id.example' })).toEqual([expect.stringMatching(/^OIDC_ISSUER: expected https/)]);
    expect(faultsOf({ ...whole, OIDC_ISSUER: '', PUBLIC_URL: '' })).toEqual([expect.stringMatching(/^OIDC_ISSUER: expected the provider/)]);
    expect(faultsOf({ ...whole, OIDC_CLIENT_ID: '', PUBLIC_URL: '' }, { sessionSecret: true })).toEqual([expect.stringMatching(/^OIDC_CLIENT_ID/), expect.stringMatching(/^PUBLIC_URL/)]);
    expect(faultsOf({ ...whole, PUBLIC_URL: '' })).toEqual([]);   // a worker sends nobody anywhere
  });

  it('uses the pooled URL where no direct one is given, and refuses a direct one alone', () => {
    expect(loadConfig({ DATABASE_URL: 'postgres://a/b' }).databaseDirectUrl).toBe('postgres://a/b');
    expect(faultsOf({ DATABASE_DIRECT_URL: 'postgres://a/b' })).toEqual(['DATABASE_DIRECT_URL: expected DATABASE_URL to be set as well, found it unset']);
    expect(withDatabase(loadConfig({}), 'postgres://c/d')).toMatchObject({ databaseUrl: 'postgres://c/d', databaseDirectUrl: 'postgres://c/d' });
  });

  it('reads .env.example back to exactly its own defaults', () => {
    const lines = exampleText().split('\n').filter(line => /^[A-Z]/.test(line));
    const env = Object.fromEntries(lines.map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
    expect(Object.keys(env).length).toBeGreaterThan(30);
    expect(loadConfig(env)).toEqual(loadConfig({}));
  });
});
