import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redacted } from '../../../../gateway/watch/redact.ts';

describe('redacted (F-08)', () => {
  it.each(['password', 'apiKey', 'api_key', 'Authorization', 'accessToken', 'clientSecret', 'mnemonic'])(
    'hides what stands under "%s", at any depth',
    (name) => {
      expect(redacted({ a: [{ [name]: 'value' }] })).toEqual({ a: [{ [name]: '[hidden]' }] });
    },
  );

  it.each([
    '-----BEGIN PRIVATE KEY-----\nabc',
    'sk-abcdefghijklmnopqrstuvwx',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc',
  ])('hides a secret in a text under whatever name: %s', (text) => {
    expect(redacted({ note: `see ${text}` })).toEqual({ note: 'see [hidden]' });
  });

  it('hides a secret that begins within what is shown and ends beyond it', () => {
    const text = `${'x'.repeat(490)} sk-${'a1B2'.repeat(20)}`;
    expect(JSON.stringify(redacted(text))).not.toContain('a1B2');
  });

  it('cuts what is long, wide and deep, and says so', () => {
    const deep = Array.from({ length: 20 }).reduce<unknown>((inner) => ({ inner }), 'end');
    expect(JSON.stringify(redacted(deep))).toContain('(deeper)');
    expect(redacted('x'.repeat(2_000))).toMatch(/… \(2000 characters\)$/);
    expect(redacted(Array.from({ length: 60 }, (_, at) => at))).toHaveLength(51);
    expect(redacted(Array.from({ length: 60 }, (_, at) => at))).toContain('(10 more)');
  });

  it('shows so many values at most, however they are nested', () => {
    const wide = Array.from({ length: 50 }, () =>
      Array.from({ length: 50 }, () => Array.from({ length: 50 }, () => 1)),
    );
    const text = JSON.stringify(redacted(wide));
    expect(text.length).toBeLessThan(5_000);
    expect(text).toContain('(cut)');
  });

  it('makes JSON of anything, of bounded size', () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 12, withBigInt: true, withDate: true }), (value) => {
        const text = JSON.stringify(redacted(value));
        expect(JSON.stringify(JSON.parse(text))).toBe(text);
        expect(text.length).toBeLessThan(2_000_000);
      }),
      { numRuns: 300 },
    );
  });
});
