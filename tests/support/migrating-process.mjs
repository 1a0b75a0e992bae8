// A process that migrates whenever it is told to, and answers what it applied.
import { migrate } from '../../build/server/db/migrate.js';
import { createLogger } from '../../build/server/log.js';

const log = createLogger({ level: 'silent', name: 'test' });

process.on('message', ({ directUrl, migrationsDir }) => {
  migrate({ directUrl, migrationsDir, log }).then(
    ({ applied }) => process.send({ applied }),
    error => process.send({ error: `${error.code ?? ''} ${error.message}` }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send({ ready: true });
