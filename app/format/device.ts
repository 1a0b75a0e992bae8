const browsers: readonly [RegExp, string][] = [[/Edg\//, 'Edge'], [/OPR\//, 'Opera'], [/Firefox\//, 'Firefox'], [/Chrom(e|ium)\//, 'Chrome'], [/Safari\//, 'Safari'], [/^curl\//, 'curl']];
const systems: readonly [RegExp, string][] = [[/Android/, 'Android'], [/iPhone|iPad/, 'iOS'], [/Windows/, 'Windows'], [/Mac OS X|Macintosh/, 'macOS'], [/CrOS/, 'ChromeOS'], [/Linux/, 'Linux']];

/** A browser and its system in two words, from what it says of itself; enough to tell one's own devices apart, and proof of nothing. */
export function deviceOf(userAgent: string | null): string {
  if (userAgent === null || userAgent === '') return 'unknown device';
  const browser = browsers.find(([pattern]) => pattern.test(userAgent))?.[1];
  const system = systems.find(([pattern]) => pattern.test(userAgent))?.[1];
  if (!browser && !system) return userAgent.length > 40 ? `${userAgent.slice(0, 39)}…` : userAgent;
  return [browser ?? 'a browser', system].filter(Boolean).join(' on ');
}
