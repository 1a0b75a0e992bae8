// A process that wants the embedded database of DATA_DIR, says its URL, and ends.
import { ensureEmbedded } from '../../build/server/db/embedded.js';
import { createLogger } from '../../build/server/log.js';

const { url } = await ensureEmbedded({ dataDir: process.env.DATA_DIR, log: createLogger({ level: 'warn', name: 'test' }), settings: { fsync: 'off' } });
console.log(`URL ${url}`);
process.exit(0);
