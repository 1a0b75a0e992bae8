/** The console's live board as a web process runs it, with one browser that shows Now, Workers and the newest rows of the bench queue. Ready once it has shown all three. */
import pg from 'pg';
import { createListener } from '../server/bus/listener.js';
import { loadConfig, withDatabase } from '../server/config.js';
import { createLiveHub } from '../server/console/live-hub.js';
import { createViews } from '../server/console/live-views.js';
import type { LiveTopic } from '../server/console/live-topics.js';
import { parseQueueFilters } from '../server/console/queue-filters.js';
import { createKysely } from '../server/db/kysely.js';
import { benchQueue } from './drain-queue.js';
import { benchLog } from './server.js';

const url = process.env.BENCH_URL!;
const config = withDatabase(loadConfig({}), url);
const pool = new pg.Pool({ connectionString: url, max: 4 });
const listener = createListener({ connection: { connectionString: url, application_name: 'bench console' }, channels: { rows: config.rowsChannel }, log: benchLog });
const hub = createLiveHub({ listener, views: createViews({ pool, kysely: createKysely(pool) }, config), log: benchLog, pollSeconds: config.pollSeconds });

const topics: LiveTopic[] = [
  { key: 'summary', kind: 'summary' }, { key: 'workers', kind: 'workers' },
  { key: 'queue:bench-rows', kind: 'queue', queue: benchQueue, filters: parseQueueFilters(new URLSearchParams()) },
];
const unseen = new Set(topics.map((topic) => topic.key));
const counts = { events: 0, bytes: 0 };

listener.start();
const leave = hub.open(topics, {
  deliver({ text }) {
    counts.events += 1;
    counts.bytes += text.length;
    const [, topic] = /^event: snapshot\ndata: \{"topic":"([^"]+)"/.exec(text.toString()) ?? [];
    if (topic && unseen.delete(topic) && unseen.size === 0) process.send!('watching');
  },
});

process.once('disconnect', () => {
  leave();
  hub.close();
  void listener.close().then(() => pool.end()).then(() => process.exit(0));
});
