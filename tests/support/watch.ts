// A setup file: an unexpected console.error fails its test; what a file leaves behind (connections, processes) fails the file.
import { afterAll, afterEach } from 'vitest';
import { recordConsoleError, takeConsoleErrors } from './console.js';
import { dropTestDatabases } from './database.js';
import { killProcesses, ownChildren } from './processes.js';
import { until } from './until.js';

console.error = recordConsoleError;

afterEach(() => {
  const errors = takeConsoleErrors();
  if (errors.length > 0) throw new Error(`Unexpected console.error:\n${errors.join('\n')}`);
});

afterAll(async () => {
  await killProcesses();
  await dropTestDatabases();
  await until(() => ownChildren().length === 0, { timeoutMs: 5000 }).catch(() => {
    throw new Error(`Processes were left running:\n${ownChildren().join('\n')}`);
  });
});
