import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemberCounter, requireFewMembers } from '../../gateway/http/json-text.ts';
import { RUNS } from './dialect-trial.ts';

interface Counts {
  keys: number;
  elements: number;
}

/** An empty array counts as one element. */
function countsOf(value: unknown, counts: Counts = { keys: 0, elements: 0 }): Counts {
  if (Array.isArray(value)) counts.elements += Math.max(1, value.length);
  else if (typeof value === 'object' && value !== null) counts.keys += Object.keys(value).length;
  else return counts;
  for (const one of Object.values(value)) countsOf(one, counts);
  return counts;
}

/** Gives it bytes in pieces of these lengths, and then the rest. */
function takeAll(counter: MemberCounter, bytes: Uint8Array, cuts: readonly number[]): void {
  let at = 0;
  for (const cut of cuts) {
    counter.take(bytes.subarray(at, at + cut));
    at += cut;
  }
  counter.take(bytes.subarray(at));
}

const UNBOUNDED = { maxKeys: Number.POSITIVE_INFINITY, maxElements: Number.POSITIVE_INFINITY };

describe('Feature: gateway-bodies', () => {
  it('Property 1: keys and elements are counted as JSON has them, wherever the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ stringUnit: 'binary' }),
        fc.array(fc.nat(40)),
        fc.boolean(),
        (value, cuts, isSpaced) => {
          const bytes = Buffer.from(JSON.stringify(value, null, isSpaced ? 1 : 0));
          const counter = new MemberCounter(UNBOUNDED);
          takeAll(counter, bytes, cuts);
          const { keys, elements } = counter;
          expect({ keys, elements }).toEqual(countsOf(JSON.parse(bytes.toString())));
        },
      ),
      RUNS,
    );
  });

  it('Property 3: what has been read has as many as what was written', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { keys, elements } = countsOf(value);
        const limits = { maxKeys: keys, maxElements: elements };
        requireFewMembers(value, limits);
        if (keys > 0)
          expect(() => requireFewMembers(value, { ...limits, maxKeys: keys - 1 })).toThrow('object keys');
        if (elements > 0)
          expect(() => requireFewMembers(value, { ...limits, maxElements: elements - 1 })).toThrow(
            'elements',
          );
      }),
      RUNS,
    );
  });

  it('Property 4: what has too many is refused, wherever the bytes are cut, and nothing else', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.array(fc.nat(40)),
        fc.nat(12),
        fc.nat(12),
        (value, cuts, maxKeys, maxElements) => {
          const bytes = Buffer.from(JSON.stringify(value));
          const counter = new MemberCounter({ maxKeys, maxElements });
          const { keys, elements } = countsOf(value);
          if (keys > maxKeys || elements > maxElements)
            expect(() => takeAll(counter, bytes, cuts)).toThrow(/more than \d+/);
          else takeAll(counter, bytes, cuts);
        },
      ),
      RUNS,
    );
  });

  it('Property 2: nothing that is no JSON makes it fail', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array()), (chunks) => {
        const counter = new MemberCounter(UNBOUNDED);
        for (const chunk of chunks) counter.take(chunk);
      }),
      RUNS,
    );
  });
});
