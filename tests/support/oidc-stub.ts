/** An OpenID provider for tests: it signs (RS256) what it is told to, and can lie, forget, refuse and hang. */
import { createHash, createPrivateKey, createSign, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface OidcStub {
  issuer: string;
  /** What the next sign-ins carry, on top of what is right. A null removes a claim. */
  behave(how: Lies): void;
  /** Bodies of token requests so far. */
  asked: URLSearchParams[];
  close(): Promise<void>;
}

export interface Lies {
  claims?: Record<string, unknown>;
  /** Signs with a key that is not in its key set. */
  unknownKey?: true;
  /** Says alg none and signs nothing. */
  unsigned?: true;
  /** This endpoint never answers. */
  hangs?: 'discovery' | 'token' | 'keys';
  /** Sends the person back with this error instead of a code. */
  refuses?: { error: string; error_description?: string };
  /** The token endpoint answers so. */
  tokenError?: { status: number; body: unknown };
  /** Another issuer in its metadata than the one that was asked. */
  metadataIssuer?: string;
}

interface Pending {
  nonce: string;
  challenge: string;
  redirectUri: string;
  lies: Lies;
}

export const STUB_CLIENT = { id: 'leaseboard-test', secret: 'canary-client-secret-of-the-stub' };

export async function oidcStub(): Promise<OidcStub> {
  const keys = { good: newKey(), bad: newKey() };
  const codes = new Map<string, Pending>();
  const asked: URLSearchParams[] = [];
  const sockets = new Set<Socket>();
  let lies: Lies = {};
  let issuer = '';

  const json = (response: http.ServerResponse, body: unknown, status = 200) => void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

  const answers: Record<string, (url: URL, body: URLSearchParams, response: http.ServerResponse) => void> = {
    '/.well-known/openid-configuration': (_url, _body, response) => lies.hangs === 'discovery' || json(response, {
      issuer: lies.metadataIssuer ?? issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys`,
      response_types_supported: ['code'], subject_types_supported: ['public'], id_token_signing_alg_values_supported: ['RS256'], code_challenge_methods_supported: ['S256'],
    }),
    '/keys': (_url, _body, response) => lies.hangs === 'keys' || json(response, { keys: [{ ...keys.good.jwk, kid: 'good', alg: 'RS256', use: 'sig' }] }),
    '/authorize': (url, _body, response) => {
      const { redirect_uri = '', state = '', nonce = '', code_challenge: challenge = '', response_type, client_id, code_challenge_method } = Object.fromEntries(url.searchParams);
      if (response_type !== 'code' || client_id !== STUB_CLIENT.id || code_challenge_method !== 'S256') return json(response, { error: 'invalid_request' }, 400);
      const back = new URL(redirect_uri);
      back.searchParams.set('state', state);
      const code = randomBytes(16).toString('hex');
      if (lies.refuses) for (const [name, value] of Object.entries(lies.refuses)) back.searchParams.set(name, value);
      else {
        codes.set(code, { nonce, challenge, redirectUri: redirect_uri, lies });
        back.searchParams.set('code', code);
      }
      response.writeHead(302, { location: back.href }).end();
    },
    '/token': (_url, body, response) => {
      asked.push(body);
      const pending = codes.get(body.get('code') ?? '');
      codes.delete(body.get('code') ?? '');
      if (lies.hangs === 'token') return;
      if (lies.tokenError) return json(response, lies.tokenError.body, lies.tokenError.status);
      const verified = createHash('sha256').update(body.get('code_verifier') ?? '').digest('base64url');
      if (body.get('client_secret') !== STUB_CLIENT.secret) return json(response, { error: 'invalid_client' }, 401);
      if (!pending || pending.challenge !== verified || pending.redirectUri !== body.get('redirect_uri')) return json(response, { error: 'invalid_grant' }, 400);
      json(response, { access_token: 'unused', token_type: 'bearer', expires_in: 60, id_token: idToken(pending) });
    },
  };

  function idToken({ nonce, lies: told }: Pending): string {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer, aud: STUB_CLIENT.id, sub: 'person-1', name: 'Olga Outside', iat: now, exp: now + 300, nonce, roles: ['operator'], ...told.claims };
    const payload = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== null));
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    if (told.unsigned) return `${part({ alg: 'none' })}.${part(payload)}.`;
    const text = `${part({ alg: 'RS256', kid: told.unknownKey ? 'unknown' : 'good' })}.${part(payload)}`;
    return `${text}.${createSign('RSA-SHA256').update(text).sign(told.unknownKey ? keys.bad.secret : keys.good.secret, 'base64url')}`;
  }

  const server = http.createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const url = new URL(request.url ?? '/', issuer);
    const answer = answers[url.pathname];
    if (answer) answer(url, new URLSearchParams(Buffer.concat(parts).toString()), response);
    else response.writeHead(404).end();
  });
  server.keepAliveTimeout = 100;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer, asked,
    behave: (how) => { lies = how; },
    close: () => new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    }),
  };
}

function newKey(): { secret: KeyObject; jwk: object } {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { secret: createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' })), jwk: publicKey.export({ format: 'jwk' }) };
}
