import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decode, encode, MAX_PAYLOAD_BYTES, type KickMessage, type RowsMessage } from '../../server/bus/topics.js';

const bytes = (text: string) => Buffer.byteLength(text, 'utf8');
const name = fc.string({ minLength: 1, maxLength: 40, unit: 'binary' });
const kickMessage: fc.Arbitrary<KickMessage> = fc.oneof(
  fc.record({ q: name }),
  fc.record({ q: name, low: fc.constant(true as const) }),
  fc.record({ lost: fc.array(name, { maxLength: 600, minLength: 1 }) }),
  fc.record({ drain: name }),
  fc.record({ resume: name }),
);
const rowsMessage: fc.Arbitrary<RowsMessage> = fc.oneof(
  fc.record({ t: name, ids: fc.array(name, { maxLength: 600, minLength: 1 }) }),
  fc.record({ t: name, reread: fc.constant(true as const) }),
  fc.record({ w: name }),
);

const listOf = (message: KickMessage | RowsMessage) => ('ids' in message ? message.ids : 'lost' in message ? message.lost : null);

describe('payloads', () => {
  it('carry every message, whatever its characters, and never more than 7,999 bytes each', () => {
    const carries = <T extends KickMessage | RowsMessage>(topic: 'kick' | 'rows') => (message: T) => {
      const payloads = encode(message);
      for (const payload of payloads) expect(bytes(payload)).toBeLessThanOrEqual(MAX_PAYLOAD_BYTES);
      const back = payloads.map((payload) => decode(topic, payload)!);
      if (listOf(message)) expect(back.flatMap((part) => listOf(part))).toEqual(listOf(message));
      else expect(back).toEqual([message]);
    };
    fc.assert(fc.property(kickMessage, carries('kick')), { numRuns: 60 });
    fc.assert(fc.property(rowsMessage, carries('rows')), { numRuns: 60 });
  });

  it('count bytes, not characters: ids of four bytes a character are cut sooner', () => {
    const ids = Array.from({ length: 900 }, (_, n) => `${'🧾'.repeat(9)}${n}`);
    const payloads = encode({ t: 'parse_items', ids });
    expect(Math.max(...payloads.map(bytes))).toBeLessThanOrEqual(MAX_PAYLOAD_BYTES);
    expect(payloads.length).toBeGreaterThan(payloads.join('').length / MAX_PAYLOAD_BYTES);
    expect(payloads.flatMap((payload) => (decode('rows', payload) as { ids: string[] }).ids)).toEqual(ids);
  });

  it('leave out what cannot fit even alone instead of failing', () => {
    const huge = 'x'.repeat(MAX_PAYLOAD_BYTES);
    expect(encode({ t: 'parse_items', ids: ['a', huge, 'b'] })).toEqual(['{"t":"parse_items","ids":["a","b"]}']);
    expect(encode({ q: huge })).toEqual([]);
  });

  it('from elsewhere are told apart from ours, and unknown fields are dropped', () => {
    const junk = [undefined, '', 'null', '[]', '3', '{', '{"q":7}', '{"q":""}', '{"lost":[1]}', '{"w":null}', '{"t":"a"}', '{"t":"a","ids":"b"}'];
    for (const payload of junk) {
      expect(decode('kick', payload)).toBeNull();
      expect(decode('rows', payload)).toBeNull();
    }
    expect(decode('kick', '{"q":"parse_items","low":1,"from":"v9"}')).toEqual({ q: 'parse_items' });
    expect(decode('rows', '{"q":"parse_items"}')).toBeNull();
  });
});
