import path from 'node:path';
import express, { type RequestHandler } from 'express';

/** The built client: names under /assets carry a hash of their content and never change; the rest (icons) may, within the hour. */
export function clientFiles(projectRoot: string): RequestHandler[] {
  const built = path.join(projectRoot, 'build', 'client');
  const assets = express.Router();
  assets.use('/assets', express.static(path.join(built, 'assets'), { immutable: true, maxAge: '1y', index: false, redirect: false }));
  assets.use('/assets', (_req, res) => void res.status(404).type('text').send('No such file in this version.'));
  return [assets, express.static(built, { maxAge: '1h', index: false, redirect: false, dotfiles: 'ignore' })];
}
