import type { Config } from '../config.js';
import { isTimeZone } from './answer-time.js';
import type { JourneyOptions } from './journey.js';

/** How a page reads its journey: the zone from `?zone=` (any that does not exist is UTC), the limits as they are configured. */
export function journeyOptions(config: Pick<Config, 'maxRunningCitationsPerUser' | 'pollSeconds'>, query?: URLSearchParams): JourneyOptions {
  const zone = query?.get('zone') ?? 'UTC';
  return { timeZone: isTimeZone(zone) ? zone : 'UTC', userCap: config.maxRunningCitationsPerUser, pollSeconds: config.pollSeconds };
}
