import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { JourneyView } from '../../server/console/journey.js';
import { notFoundAnswer, readJourney } from '../../server/console/journey.js';
import { createKysely } from '../../server/db/kysely.js';
import { testDatabase } from '../support/database.js';
import { situations } from './journey-situations.js';
import type { JourneyWorld } from './journey-world.js';
import { journeyWorld, SESSION, USER } from './journey-world.js';

let world: JourneyWorld;
let kysely: ReturnType<typeof createKysely>;

beforeAll(async () => {
  const { pool } = await testDatabase();
  world = journeyWorld(pool);
  kysely = createKysely(pool);
});
beforeEach(() => world.clear());

const MINUTE = 60_000;
const months = { en: ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'], de: ['Januar', 'Februar', 'März', 'April', 'Mai', 'Juni', 'Juli', 'August', 'September', 'Oktober', 'November', 'Dezember'] };

/** Told without the code under test: day and minute in UTC. */
function told(at: number, language: 'en' | 'de') {
  const date = new Date(at);
  const clock = date.toISOString().slice(11, 16);
  const month = months[language][date.getUTCMonth()]!;
  return { clock, day: language === 'en' ? `${date.getUTCDate()} ${month} ${date.getUTCFullYear()}` : `${date.getUTCDate()}. ${month} ${date.getUTCFullYear()}` };
}

function withInstants(sentence: string, { eta, pace }: JourneyView, language: 'en' | 'de'): string {
  return sentence.replace('<range>', () => rangeOf(eta!, language)).replace('<at>', () => {
    const { clock, day } = told((pace as { at: number }).at, language);
    return language === 'en' ? `on ${day} at ${clock} UTC` : `am ${day} um ${clock} Uhr (UTC)`;
  });
}

function rangeOf(eta: { from: number; to: number }, language: 'en' | 'de'): string {
  const from = told(eta.from, language);
  const to = told(Math.max(Math.ceil(eta.to / MINUTE), Math.floor(eta.from / MINUTE) + 1) * MINUTE, language);
  if (from.day !== to.day) {
    return language === 'en' ? `between ${from.clock} UTC on ${from.day} and ${to.clock} UTC on ${to.day}` : `zwischen ${from.day}, ${from.clock} Uhr (UTC), und ${to.day}, ${to.clock} Uhr (UTC),`;
  }
  return language === 'en' ? `between ${from.clock} and ${to.clock} UTC on ${to.day}` : `am ${to.day} zwischen ${from.clock} und ${to.clock} Uhr (UTC)`;
}

test.each(situations)('$name', async ({ build, en, de }) => {
  await build(world);
  const view = (await readJourney(kysely, { userId: USER, sessionId: SESSION }))!;
  expect(view.answer).toEqual({ en: withInstants(en, view, 'en'), de: withInstants(de, view, 'de') });
  if (view.eta) expect([view.eta.from > view.asOf, view.eta.to > view.eta.from]).toEqual([true, true]);
});

test('details that lead nowhere', async () => {
  expect(await readJourney(kysely, { userId: USER, sessionId: SESSION })).toBeNull();
  expect(notFoundAnswer()).toEqual({
    en: 'We could not find an upload or a report under these details; please check them, or tell us the e-mail address that was used.',
    de: 'Zu diesen Angaben konnten wir weder einen Upload noch einen Bericht finden; bitte prüfen Sie die Angaben, oder nennen Sie uns die verwendete E-Mail-Adresse.',
  });
});
