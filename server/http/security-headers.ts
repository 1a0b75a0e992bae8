import { randomBytes } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';

/** Headers of an answer that is data for a program. Whatever a browser took it for, it would run and load nothing, and be in no frame. */
export function dataHeaders(options: { https: boolean }): RequestHandler {
  return helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    strictTransportSecurity: options.https,
    xFrameOptions: { action: 'deny' },
    // What these tell a browser is about pages and their downloads.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    referrerPolicy: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  });
}

/**
 * Headers of every other answer. Scripts run only from our own files or with this response's nonce; nobody may frame the console; forms go
 * nowhere else. The referrer policy is `same-origin`, not `no-referrer`: the latter turns a form's Origin into `null`.
 */
export function pageHeaders(options: { https: boolean; dev: boolean }): RequestHandler[] {
  return [giveNonce, helmet({
    contentSecurityPolicy: { useDefaults: false, directives: contentPolicy(options) },
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: options.https,
    xFrameOptions: { action: 'deny' },
  })];
}

function giveNonce(_req: Request, res: Response, next: NextFunction): void {
  res.locals.nonce = randomBytes(16).toString('base64');
  next();
}

function contentPolicy({ https, dev }: { https: boolean; dev: boolean }): Record<string, Iterable<string | ((req: unknown, res: unknown) => string)>> {
  return {
    defaultSrc: ["'self'"],
    scriptSrc: ["'self'", (_req, res) => `'nonce-${(res as Response).locals.nonce}'`],
    scriptSrcAttr: ["'none'"],
    // Positioned popovers and charts set style attributes while they render.
    styleSrc: ["'self'", "'unsafe-inline'"],
    imgSrc: ["'self'", 'data:'],
    fontSrc: ["'self'", 'data:'],
    connectSrc: ["'self'", ...(dev ? ['ws:'] : [])],
    objectSrc: ["'none'"],
    baseUri: ["'none'"],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
    ...(https ? { upgradeInsecureRequests: [] } : {}),
  };
}
