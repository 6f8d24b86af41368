import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SecretFilter } from '../../../gates/secret-filter.ts';

function filtered(secrets: readonly string[], parts: readonly Uint8Array[]): string {
  const filter = new SecretFilter(secrets);
  return Buffer.concat([...parts.map((part) => filter.write(part)), filter.end()]).toString('latin1');
}

/** Few letters, so that secrets overlap, repeat and contain each other. */
const word = (minLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', '.', '\n'), minLength, maxLength: 30 });

describe('the filter of secrets in what a gate prints', () => {
  it('lets no secret through, however it comes in parts, and changes nothing else', () => {
    const secrets = fc.array(
      fc.string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 1, maxLength: 5 }),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(secrets, fc.array(word(0), { maxLength: 6 }), (hidden, parts) => {
        const whole = filtered(hidden, [Buffer.from(parts.join(''))]);
        expect(
          filtered(
            hidden,
            parts.map((part) => Buffer.from(part)),
          ),
        ).toBe(whole);
        for (const kept of whole.split('[hidden]'))
          for (const secret of hidden) expect(kept).not.toContain(secret);
      }),
      { numRuns: 2_000 },
    );
  });

  it('hides the longer of two that begin alike, also where the shorter ends with a part', () => {
    const parts = ['x sesame-1', '2 y sesame-1 z'].map((part) => Buffer.from(part));
    expect(filtered(['sesame-1', 'sesame-12'], parts)).toBe('x [hidden] y [hidden] z');
  });

  it('tells at once what cannot be the beginning of one, and leaves bytes as they are that are no text', () => {
    const filter = new SecretFilter(['sesämé']);
    expect(Buffer.from(filter.write(Buffer.from([0xff, 0x00, 0xc3]))).toString('latin1')).toBe(
      '\xff\x00\xc3',
    );
    const secret = Buffer.from('sesämé!');
    expect(filter.write(secret.subarray(0, 4))).toHaveLength(0);
    expect(Buffer.from(filter.write(secret.subarray(4))).toString()).toBe('[hidden]!');
  });

  it('passes everything on where there is no secret', () => {
    const part = Buffer.from('as it is');
    expect(new SecretFilter([]).write(part)).toBe(part);
  });
});
