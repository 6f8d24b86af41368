import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { traceContextOf } from '../../../runtime/protocol/trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const traceparent = `00-${TRACE}-${SPAN}-01`;

describe('The context of a trace, from outside (W3C Trace Context)', () => {
  it('is taken as it is written', () => {
    expect(traceContextOf(traceparent)).toEqual({ traceparent });
    expect(traceContextOf(traceparent, 'congo=t61rcWkgMzE,rojo@vendor=00f0')).toEqual({
      traceparent,
      tracestate: 'congo=t61rcWkgMzE,rojo@vendor=00f0',
    });
  });

  it.each([
    ['no text', 5],
    ['nothing', undefined],
    ['the version that is none', `ff-${TRACE}-${SPAN}-01`],
    ['more than version 00 has', `${traceparent}-more`],
    ['no trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['no span', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['capital letters', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['a short span', `00-${TRACE}-${SPAN.slice(1)}-01`],
    ['a line after it', `${traceparent}\n`],
    ['two of them', `${traceparent},${traceparent}`],
  ])('is none of %s', (_what, text) => {
    expect(traceContextOf(text, 'a=b')).toBeUndefined();
  });

  it('is passed on as version 00 from a later version, without what that has more', () => {
    expect(traceContextOf(`cc-${TRACE}-${SPAN}-01-what-the-future-will-be-like`)).toEqual({ traceparent });
    expect(traceContextOf(`cc-${TRACE}-${SPAN}-01.what`)).toBeUndefined();
  });

  it.each([
    ['longer than 512 characters', `a=${'x'.repeat(511)}`],
    ['of more than 32 members', Array.from({ length: 33 }, (_, at) => `k${at}=v`).join(',')],
    ['with a member that is none', 'a=b,nothing'],
    ['with a key in capitals', 'A=b'],
    ['with a key twice', 'a=b,a=c'],
    ['with a line in it', 'a=b\nc'],
    ['that is no text', { a: 'b' }],
  ])('loses a state %s, and stays', (_what, state) => {
    expect(traceContextOf(traceparent, state)).toEqual({ traceparent });
  });

  it('has no member without text', () => {
    expect(traceContextOf(traceparent, ' a=b ,, c=d\t')).toEqual({ traceparent, tracestate: 'a=b,c=d' });
    expect(traceContextOf(traceparent, ' , ')).toEqual({ traceparent });
  });

  it('is the same again when it is read again, and never longer than a header may be', () => {
    const hex = (length: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
    const texts = fc.oneof(
      fc.string(),
      fc
        .tuple(hex(2), hex(32), hex(16), hex(2), fc.string({ maxLength: 20 }))
        .map((parts) => parts.join('-')),
      fc.tuple(hex(2), hex(32), hex(16), hex(2)).map((parts) => parts.join('-')),
    );
    fc.assert(
      fc.property(texts, fc.string({ maxLength: 600 }), (parent, state) => {
        const known = traceContextOf(parent, state);
        if (known === undefined) return;
        expect(traceContextOf(known.traceparent, known.tracestate)).toEqual(known);
        expect(known.traceparent).toHaveLength(55);
        expect((known.tracestate ?? '').length).toBeLessThanOrEqual(512);
      }),
      { numRuns: 500 },
    );
  });
});
