/** `npm run bench [name] [-- --json FILE] [-- --rows N]`: measurements that print ratios against a baseline run side by side in the same run. */
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import type { Report } from './report.js';

const benches: Record<string, () => Promise<{ run(): Promise<Report> }>> = {
  beats: () => import('./beats.js'),
  drain: () => import('./drain.js'),
  eta: () => import('./eta.js'),
  find: () => import('./find.js'),
  latency: () => import('./latency.js'),
  quality: () => import('./quality.js'),
  status: () => import('./status.js'),
  stream: () => import('./stream.js'),
};

const { positionals, values } = parseArgs({ allowPositionals: true, options: { json: { type: 'string' }, /* find */ rows: { type: 'string' } } });
const names = positionals.length > 0 ? positionals : Object.keys(benches);
const unknown = names.filter((name) => !benches[name]);
if (unknown.length > 0) {
  process.stderr.write(`expected the name of a benchmark (${Object.keys(benches).join(', ')}), got ${unknown.join(', ')}\n`);
  process.exit(2);
}

const reports: Report[] = [];
for (const name of names) {
  process.stdout.write(`\n# ${name}\n`);
  const report = await (await benches[name]!()).run();
  reports.push(report);
  process.stdout.write(`${report.text}\n`);
}
if (values.json) fs.writeFileSync(values.json, `${JSON.stringify(reports, null, 2)}\n`);
process.exit(reports.every((report) => report.goals.every((goal) => goal.met)) ? 0 : 1);
