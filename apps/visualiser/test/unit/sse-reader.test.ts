import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SseEvent, SseReader } from '../../model/sse-reader.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const readAll = (chunks: readonly Uint8Array[]): SseEvent[] => {
  const reader = new SseReader();
  return chunks.flatMap((chunk) => reader.push(chunk));
};

const STREAM = [
  ': ping',
  '',
  'id: 1',
  'event: state',
  'data: {"a":1}',
  '',
  'data:one',
  'data: two – 火星',
  '',
  'event: empty',
  '',
  'retry: 5',
  'data',
  '',
  '',
].join('\n');
const EVENTS = [
  { event: 'state', data: '{"a":1}' },
  { event: 'message', data: 'one\ntwo – 火星' },
  { event: 'message', data: '' },
];

describe('the reader of server-sent events', () => {
  it('reads the same events wherever the bytes are cut, and however lines end', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.array(fc.nat(STREAM.length * 2), { maxLength: 20 }),
        (end, cuts) => {
          // A carriage return at the very end may be half of a line's end: what follows says so.
          const all = bytes(`${STREAM.replaceAll('\n', end)}: end\n`);
          const at = [
            0,
            ...cuts.map((cut) => cut % all.length).sort((one, other) => one - other),
            all.length,
          ];
          const chunks = at.slice(1).map((to, index) => all.subarray(at[index], to));
          expect(readAll(chunks)).toEqual(EVENTS);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('gives nothing of an event that is not whole', () => {
    expect(readAll([bytes('data: {"a"')])).toEqual([]);
    expect(readAll([bytes('data: 1\n')])).toEqual([]);
  });
});
