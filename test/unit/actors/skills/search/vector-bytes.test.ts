import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { vectorFromBytes, vectorToBytes } from '../../../../../actors/skills/search/vector-bytes.ts';
import { vectorOf } from '../../../../../actors/skills/search/vector.ts';

const embedding = fc.float32Array({ minLength: 1, maxLength: 2_000, noNaN: true, noDefaultInfinity: true });
const bytes = (): Uint8Array => vectorToBytes(vectorOf(Float32Array.from([1, -2, 3])));

function changed(at: number, value: number): Uint8Array {
  const all = bytes();
  all[at] = value;
  return all;
}

describe('A vector as it is stored', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(embedding, (given) => {
        const vector = vectorOf(given.map((value) => value / 1e30));
        expect(vectorFromBytes(vectorToBytes(vector))).toEqual(vector);
      }),
      { numRuns: 200 },
    );
  });

  it('comes back from the middle of what a database has read', () => {
    const vector = vectorOf(Float32Array.from([0.5, 0.25, -1]));
    const stored = vectorToBytes(vector);
    const page = new Uint8Array(stored.length + 20).fill(99);
    page.set(stored, 7);
    expect(vectorFromBytes(page.subarray(7, 7 + stored.length))).toEqual(vector);
  });

  it.each([
    ['that are none', new Uint8Array(), 'has 0 bytes, fewer than its header'],
    ['of another version', changed(0, 2), 'is of version 2, expected 1'],
    ['that were cut off', bytes().slice(0, -1), 'has 270 bytes, expected 271 for 3 dimensions'],
    ['of other dimensions', changed(4, 4), 'has 271 bytes, expected 272 for 4 dimensions'],
    ['with a scale below 0', changed(11, 0xbf), 'expected a number from 0 on'],
    ['with a scale that is no number', changed(11, 0x7f).fill(0xff, 8, 11), 'has the scale NaN'],
  ])('is refused as bytes %s', (_what, given, reason) => {
    expect(() => vectorFromBytes(given)).toThrow(
      expect.objectContaining({ code: 'STORE_INVALID', message: expect.stringContaining(reason) }),
    );
  });
});
