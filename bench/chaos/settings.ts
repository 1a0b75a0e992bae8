/** Short, so that a lost lease is found within ten seconds; printed with the result. */
export const SETTINGS = {
  LEASE_SECONDS: '6', HEARTBEAT_SECONDS: '2', SWEEP_SECONDS: '2', POLL_SECONDS: '1', DRAIN_SECONDS: '2', PUBLISH_HEARTBEAT_SECONDS: '2', PUBLISH_DEAD_AFTER_SECONDS: '8',
  WORKER_CONCURRENCY: '2', DATABASE_POOL_MAX: '5',
};

/** The same for the invariants. */
export const LIMITS = {
  leaseSeconds: 6, sweepSeconds: 2, pollSeconds: 1, maxActiveParseJobsPerUser: 3, maxStagedBytesPerUser: 125_829_120, maxRunningCitationsPerUser: 8,
};

/** What a row may lie idle beside a free slot: its holder's lease, until the next sweep, until the next poll; and what timers on a busy machine are late by (ms). */
export const PROMISED_WAIT_MS = (LIMITS.leaseSeconds + LIMITS.sweepSeconds + LIMITS.pollSeconds) * 1000;
export const SLACK_MS = 3_000;

/** Of the private Postgres: few enough that its connection slots can be used up. Five processes ask for twelve beside the pooler's. */
export const MAX_CONNECTIONS = 60;
