import { boot } from './boot.js';
import { runMain } from './run-main.js';

await runMain(async () => {
  await boot('migrate');
});
