import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineReader } from '../../../runtime/protocol/line-reader.ts';

function reader(maxBytes: number) {
  const lines: string[] = [];
  const skipped: number[] = [];
  let tooLong = 0;
  const one = new LineReader({
    maxBytes,
    onLine: (line) => lines.push(line),
    onTooLong: () => {
      tooLong += 1;
    },
    onSkipped: (bytes) => skipped.push(bytes),
  });
  return { push: (text: string) => one.push(Buffer.from(text)), one, lines, skipped, tooLong: () => tooLong };
}

describe('lines of what a server writes', () => {
  it('are the same however they are cut into pieces', () => {
    const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '\n', ' ') }));
    fc.assert(
      fc.property(pieces, fc.integer({ min: 1, max: 5 }), (texts, size) => {
        const whole = Buffer.from(texts.join(''));
        const { one, lines } = reader(1_000_000);
        for (let at = 0; at < whole.length; at += size) one.push(whole.subarray(at, at + size));
        const ended = whole.toString().split('\n').slice(0, -1);
        expect(lines).toEqual(ended.filter((line) => line.trim() !== ''));
      }),
      { numRuns: 200 },
    );
  });

  it('that are too long are said to be, once, and left out; the next one is read', () => {
    const { push, lines, skipped, tooLong } = reader(5);
    push('12345\n1234');
    push('56');
    expect(tooLong()).toBe(1);
    push('78901234567890');
    expect(tooLong()).toBe(1);
    expect(skipped.at(-1)).toBe(20);
    push('\nnext\n');
    expect(lines).toEqual(['12345', 'next']);
  });
});
