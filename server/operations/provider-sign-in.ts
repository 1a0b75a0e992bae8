/**
 * Signing in through an OpenID provider: discovery, authorization code with PKCE, state and nonce, an ID token whose signature, issuer,
 * audience and times are checked (openid-client). What must be remembered until the person comes back is sealed into a cookie of theirs.
 *
 * Every call to the provider ends within PROVIDER_SECONDS and is not repeated by us: a code is good once, and the person can press again. The
 * answer of a call is capped. Nothing of the provider's is stored but issuer, subject and the name at the first sign-in.
 */
import * as oidc from 'openid-client';
import type { Config } from '../config.js';
import { cappedFetch } from '../sources/capped-fetch.js';
import type { OperatorRole } from './accounts.js';
import { seal, unseal } from './sealed.js';

/** One call to the provider, to the last byte of its answer. */
const PROVIDER_SECONDS = 10;
const MAX_ANSWER_BYTES = 1_000_000;
/** Between leaving for the provider and coming back. */
export const TRANSACTION_SECONDS = 600;
/** The provider's metadata is read again after this (ms); its keys openid-client reads anew by itself when it meets an unknown one. */
const DISCOVERY_MS = 3_600_000;

type ProviderConfig = Pick<Config, 'oidcIssuer' | 'oidcClientId' | 'oidcClientSecret' | 'oidcRoleClaim' | 'publicUrl' | 'sessionSecret'>;

export interface ProviderIdentity {
  issuer: string;
  subject: string;
  /** How they are called at first; never what they are found by. */
  name: string;
  role: OperatorRole;
}

/** What went wrong, in words for the sign-in page. `code` is for the log. */
export class ProviderRefusal extends Error {
  override name = 'ProviderRefusal';
  constructor(readonly code: 'no_transaction' | 'provider_error' | 'provider_unreachable' | 'bad_answer' | 'no_role', readonly words: string, options?: { cause: unknown }) {
    super(`${code}: ${words}`, options);
  }

  /** For the log: what the library found, without the answer it found it in. */
  get detail(): string {
    return this.cause instanceof Error ? `${this.cause.name}: ${this.cause.message}`.slice(0, 300) : '';
  }
}

interface Transaction {
  state: string;
  nonce: string;
  verifier: string;
  returnTo: string;
  /** Milliseconds since 1970 on the clock of the web process that began it; skew between ours is far below ten minutes. */
  begun: number;
}

const PURPOSE = 'oidc transaction';

/** By configuration, so that two consoles in one process (tests) do not share a provider. */
const known = new WeakMap<object, { at: number; found: Promise<oidc.Configuration> }>();

/** The provider as it describes itself. A failure is not remembered. */
function discover(config: ProviderConfig): Promise<oidc.Configuration> {
  const last = known.get(config);
  if (last && performance.now() - last.at < DISCOVERY_MS) return last.found;
  const issuer = new URL(config.oidcIssuer!);
  const found = oidc.discovery(issuer, config.oidcClientId!, undefined, config.oidcClientSecret === undefined ? oidc.None() : oidc.ClientSecretPost(config.oidcClientSecret), {
    timeout: PROVIDER_SECONDS,
    [oidc.customFetch]: cappedFetch(MAX_ANSWER_BYTES) as oidc.CustomFetch,
    // Without this the ID token's signature is trusted for having come over TLS; it is checked against the provider's keys all the same.
    execute: [oidc.enableNonRepudiationChecks, ...(issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : [])],
  });
  known.set(config, { at: performance.now(), found });
  found.catch(() => known.delete(config));
  return found;
}

const redirectUri = ({ publicUrl }: ProviderConfig) => `${publicUrl!.replace(/\/+$/, '')}/signin/callback`;

/** Where to send the person, and the sealed transaction for their cookie. @throws ProviderRefusal when the provider cannot be read. */
export async function beginProviderSignIn(config: ProviderConfig, returnTo: string): Promise<{ location: string; transaction: string }> {
  const provider = await discover(config).catch((error: unknown) => { throw explained(error); });
  const transaction: Transaction = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier(), returnTo, begun: Date.now() };
  const location = oidc.buildAuthorizationUrl(provider, {
    redirect_uri: redirectUri(config), scope: 'openid profile', state: transaction.state, nonce: transaction.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(transaction.verifier), code_challenge_method: 'S256',
  });
  return { location: location.href, transaction: seal(config.sessionSecret!, PURPOSE, JSON.stringify(transaction)) };
}

/**
 * Who came back, and where they wanted to go. `query` as the provider sent it; `sealed` from the cookie. Nothing of the query is believed, or
 * shown, unless its state is the one of the transaction. @throws ProviderRefusal with words for the page.
 */
export async function finishProviderSignIn(config: ProviderConfig, query: string, sealed: string | undefined): Promise<{ identity: ProviderIdentity; returnTo: string }> {
  const transaction = openTransaction(config, sealed);
  if (!transaction || new URLSearchParams(query).get('state') !== transaction.state) {
    throw new ProviderRefusal('no_transaction', 'This sign-in was begun in another browser, or more than ten minutes ago, or is over already. Begin again.');
  }
  try {
    const provider = await discover(config);
    const tokens = await oidc.authorizationCodeGrant(provider, new URL(`${redirectUri(config)}?${query}`), {
      expectedState: transaction.state, expectedNonce: transaction.nonce, pkceCodeVerifier: transaction.verifier, idTokenExpected: true,
    });
    return { identity: identityOf(config, tokens.claims()!), returnTo: transaction.returnTo };
  } catch (error) {
    throw explained(error);
  }
}

function openTransaction(config: ProviderConfig, sealed: string | undefined): Transaction | undefined {
  const text = sealed === undefined ? undefined : unseal(config.sessionSecret!, PURPOSE, sealed);
  if (text === undefined) return undefined;
  const transaction = JSON.parse(text) as Transaction;
  return Date.now() - transaction.begun <= TRANSACTION_SECONDS * 1000 ? transaction : undefined;
}

function identityOf(config: ProviderConfig, claims: oidc.IDToken): ProviderIdentity {
  const role = roleIn(claimAt(claims, config.oidcRoleClaim));
  if (!role) {
    throw new ProviderRefusal('no_role', `The provider knows you, but says no role for this console: the claim ${config.oidcRoleClaim} has neither viewer, operator nor admin. Ask whoever manages accounts there to give you one.`);
  }
  const name = [claims.name, claims.preferred_username, claims.email, claims.sub].find((one) => typeof one === 'string' && one.trim() !== '') as string;
  return { issuer: claims.iss, subject: claims.sub, name, role };
}

/** The claim of this very name (some are URLs with dots), else the one that the dots lead to. */
function claimAt(claims: oidc.IDToken, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name.split('.').reduce<unknown>((at, part) => (at !== null && typeof at === 'object' && Object.hasOwn(at, part) ? (at as Record<string, unknown>)[part] : undefined), claims);
}

/** Of several the strongest; other words mean nothing here. */
function roleIn(claim: unknown): OperatorRole | undefined {
  const words: unknown[] = Array.isArray(claim) ? claim : [claim];
  return (['admin', 'operator', 'viewer'] as const).find((role) => words.includes(role));
}

/** The library's errors as words. A provider's own text is shown as text, cut short. */
function explained(error: unknown): ProviderRefusal {
  if (error instanceof ProviderRefusal) return error;
  if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError) {
    const said = error.error_description ?? error.error;
    return new ProviderRefusal('provider_error', `The provider refused: “${said.slice(0, 300)}”. Try again; if it stays, ask whoever manages accounts there.`, { cause: error });
  }
  if (isTransport(error)) return new ProviderRefusal('provider_unreachable', `The provider does not answer as it should (waited up to ${PROVIDER_SECONDS} s). Try again in a moment, or use a one-time link.`, { cause: error });
  return new ProviderRefusal('bad_answer', 'The provider\'s answer does not hold: its signature, audience, time or nonce is not what it must be. Nobody was signed in. Begin again; if it stays, compare OIDC_ISSUER and OIDC_CLIENT_ID with the provider.', { cause: error });
}

function isTransport(error: unknown): boolean {
  const chain: unknown[] = [];
  for (let at: unknown = error; at instanceof Error && chain.length < 5; at = at.cause) chain.push(at);
  return chain.some((one) => {
    const { name, code } = one as { name: string; code?: unknown };
    return ['AbortError', 'TimeoutError'].includes(name) || ['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_PARSE_ERROR', 'ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_SOCKET'].includes(String(code)) || (one as Error).message === 'fetch failed';
  });
}
