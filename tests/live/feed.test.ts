import { describe, expect, it } from 'vitest';
import { createDatabaseClock } from '../../app/live/database-clock';
import { feedOf, type FeedFacts } from '../../app/live/feed';
import { feedWords } from '../../app/live/feed-words';
import { feedStateOf as serverState, feedView, type FeedFacts as ServerFacts } from '../../server/console/live-feed.js';

const said = { state: 'live', asOf: 100_000, since: 90_000, roundTripMs: 38, serverNow: 101_000, pollSeconds: 5 } as const;
const facts: FeedFacts = { said, asOf: 100_000, open: true, complete: true, silentMs: 500, visibleMs: 60_000, now: 101_000, begun: 90_000 };
const feed = (more: Partial<FeedFacts>) => feedOf({ ...facts, ...more }, () => more.now ?? facts.now);
const words = (more: Partial<FeedFacts>) => feedWords(feed(more), more.now ?? facts.now, 'as of 14:02:31').join(' · ');

describe('the feed in the browser', () => {
  it('says how the page is fed, in words', () => {
    expect(words({})).toBe('Live · as of 14:02:31 · 38 ms');
    expect(words({ complete: false })).toBe('Catching up · as of 14:02:31');
    expect(words({ open: false })).toBe('Connecting · as of 14:02:31');
    expect(words({ said: { ...said, state: 'polling', since: 89_000 } })).toBe('Polling every 5 s · listener lost 12 s ago · as of 14:02:31');
    expect(words({ now: 141_000, silentMs: 40_000 })).toBe('Offline · last read 41 s ago · reconnecting');
  });

  it('is offline when the stream has gone silent, whatever its last word was', () => {
    expect(feed({ silentMs: 15_001 }).state).toBe('offline');
    expect(feed({ silentMs: 14_999 })).toMatchObject({ state: 'catching_up', reconnecting: true });
    expect(feed({ silentMs: 4_999 }).state).toBe('live');
  });

  it('is offline when the server goes on talking but reads nothing', () => {
    expect(feed({ now: 116_000 })).toMatchObject({ state: 'offline', stale: true });
    expect(feed({ now: 114_000 })).toMatchObject({ state: 'live', stale: false });
    expect(feed({ said: { ...said, state: 'offline' }, complete: false }).state).toBe('offline');
  });

  it('does not call polling stale', () => {
    expect(feed({ said: { ...said, state: 'polling' }, now: 106_000 })).toMatchObject({ state: 'polling', stale: false });
  });

  it('gives a tab that comes back a moment to read before it calls it stale', () => {
    expect(feed({ now: 900_000, visibleMs: 200, open: false })).toMatchObject({ state: 'catching_up', stale: false, asOf: 100_000 });
    expect(feed({ now: 900_000, visibleMs: 2_000, open: false }).stale).toBe(true);
  });
});

describe('the database clock in the browser', () => {
  it('starts at what the loader said, then follows the server and never the browser, and takes the quickest word', () => {
    let monotonic = 1_000;
    const clock = createDatabaseClock(500_000, () => monotonic);
    monotonic += 250;
    expect(clock.now()).toBe(500_250);
    expect(clock.offset()).toBeNull();
    clock.hear(500_300);
    expect(clock.now()).toBe(500_300);
    monotonic += 2_000;
    clock.hear(501_900); // 400 ms late on the wire
    expect(clock.now()).toBe(502_300);
    for (let n = 0; n < 8; n += 1) clock.hear(400_000); // the database's clock was set back
    expect(clock.now()).toBe(400_000);
  });
});

describe('the feed on the server', () => {
  const listener = { up: true, since: 0, lastRoundTripMs: 1, reconnects: 0, malformed: 0 };
  const reads = { asOf: 5_000_000, epoch: 1, succeededAt: 99_000, clockOffset: 4_900_000, failures: 0 };
  const server: ServerFacts = { listener, reads, catchingUp: false, now: 100_000, readingSince: 0 };

  it('tells live, catching up, polling and offline apart', () => {
    expect(serverState(server)).toBe('live');
    expect(serverState({ ...server, catchingUp: true })).toBe('catching_up');
    expect(serverState({ ...server, reads: { ...reads, failures: 1 } })).toBe('catching_up');
    expect(serverState({ ...server, listener: { ...listener, up: false } })).toBe('polling');
    expect(serverState({ ...server, listener: { ...listener, up: false }, now: 115_000 })).toBe('offline');
    expect(serverState({ ...server, now: 115_000, readingSince: 114_000 })).toBe('live'); // nobody looked, so nobody read
  });

  it('says since when on the database clock', () => {
    expect(feedView({ ...server, listener: { ...listener, up: false, since: 88_000 } }, 95_000, 5)).toEqual({
      state: 'polling', asOf: 5_000_000, since: 4_988_000, roundTripMs: null, serverNow: 5_000_000, pollSeconds: 5,
    });
    expect(feedView({ ...server, reads: { ...reads, asOf: 0 } }, 95_000, 5)).toMatchObject({ asOf: 0, since: 0, serverNow: 0 });
  });
});
