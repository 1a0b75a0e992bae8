#!/usr/bin/env node
// What `npx leaseboard …` runs.
process.argv.splice(2, 0, 'cli');
await import('./prepare.mjs');
