import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EnvelopeFactory } from '../../../runtime/protocol/envelope-factory.ts';
import { mergeTaint, type Taint } from '../../../runtime/protocol/taint.ts';
import { taintFrom } from '../../../runtime/protocol/taint-from.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const arbTaint = fc
  .array(fc.stringMatching(/^[a-z]{1,2}:[a-z0-9]{1,2}$/), { maxLength: 20 })
  .map((sources) => taintFrom(sources));

describe('a taint (F-09)', () => {
  it('is sorted, has each source once, and is not there without any', () => {
    expect(taintFrom(['web:b', 'a2a:a', 'web:b'])).toEqual(['a2a:a', 'web:b']);
    expect(taintFrom([])).toBeUndefined();
  });

  it('names sixteen sources of more, and says so', () => {
    const many = Array.from({ length: 20 }, (_, n) => `web:${String.fromCharCode(97 + n)}`);
    const taint = taintFrom(many) as Taint;
    expect(taint).toEqual([...many.slice(0, 16), '~and others']);
    expect(mergeTaint(taint, ['a2a:x'])).toEqual(['a2a:x', ...many.slice(0, 15), '~and others']);
    expect(mergeTaint(taint, [many[19] as string])).toEqual(taint);
  });

  it('is the same with another one, in whatever order they come together', () => {
    fc.assert(
      fc.property(arbTaint, arbTaint, arbTaint, (one, two, three) => {
        expect(mergeTaint(one, two)).toEqual(mergeTaint(two, one));
        expect(mergeTaint(mergeTaint(one, two), three)).toEqual(mergeTaint(one, mergeTaint(two, three)));
        expect(mergeTaint(one, one)).toBe(one);
        expect(mergeTaint(one, undefined)).toBe(one);
        const both = mergeTaint(one, two);
        expect(mergeTaint(both, one)).toBe(both);
      }),
    );
  });

  it('is passed on with what an envelope causes, and can only be added to', () => {
    let ids = 0;
    const factory = new EnvelopeFactory({
      seams: { clock: new FakeClock(), newId: () => `e${++ids}` },
      cardOf: () => ({ tier: 2 }),
    });
    const address = { sender: 'mars', recipient: 'venus', type: 'request' } as const;
    const metadata = { taint: ['web:b'] } as never;
    const cause = factory.create({ ...address, metadata });
    expect(cause.metadata?.taint).toEqual(['web:b']);
    expect(factory.create({ ...address, cause }).metadata?.taint).toEqual(['web:b']);
    const more = { taint: ['a2a:c'] } as never;
    expect(factory.create({ ...address, cause, metadata: more }).metadata?.taint).toEqual(['a2a:c', 'web:b']);
    expect(factory.reply(cause, { payload: 1 }).metadata?.taint).toEqual(['web:b']);
    expect(factory.create(address).metadata).not.toHaveProperty('taint');
  });
});
