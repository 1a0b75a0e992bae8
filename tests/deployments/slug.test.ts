import { expect, test } from 'vitest';
import { readSlug } from '../../server/deployments/slug.js';

test.each([
  ['app', 'app'], ['App', 'app'], ['APP', 'app'], [' app ', 'app'], ['ａｐｐ', 'app'], ['𝐚𝐩𝐩', 'app'], ['ﬁne', 'fine'], ['\u212Aiosk', 'kiosk'], ['my-app-2', 'my-app-2'], ['a', 'a'],
])('%s is the name %s', (text, slug) => {
  expect(readSlug(text)).toEqual({ slug });
});

test.each(['', '-app', 'app-', 'my app', 'my_app', 'аpp', 'app\u200b', 'müller', 'a'.repeat(64), '.', 'app.com', '\0', '🚀'])('%j is no name', (text) => {
  expect(readSlug(text)).toMatchObject({ refused: 'malformed' });
});

test.each(['www', 'API', 'ａｄｍｉｎ', 'xn--app'])('%s is reserved in every spelling', (text) => {
  expect(readSlug(text)).toMatchObject({ refused: 'reserved' });
});

test('reading a name twice gives the same name', () => {
  for (const text of ['App', 'ǅungla', 'ﬁne', 'İstanbul']) {
    const once = readSlug(text);
    if ('slug' in once) expect(readSlug(once.slug)).toEqual(once);
  }
});
