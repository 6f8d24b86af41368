import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  byRelevance,
  moreSpecificFirst,
  type Statement,
  shadowsAmong,
} from '../../../../../actors/skills/memory/precedence.ts';

const statement = (id: string, more: Partial<Statement> = {}): Statement => ({
  id,
  subject: 'port',
  rank: 4,
  scope: '',
  hash: id,
  updatedAtMs: 0,
  ...more,
});

const statements = fc.uniqueArray(
  fc.record({
    id: fc.integer({ min: 0, max: 99 }).map(String),
    subject: fc.constantFrom('port', 'host', null),
    rank: fc.integer({ min: 1, max: 4 }),
    scope: fc.constantFrom('', 'p', 'q'),
    hash: fc.constantFrom('a', 'b', 'c'),
    updatedAtMs: fc.nat(3),
  }),
  { selector: ({ id }) => id, maxLength: 14 },
);

const shadows = (all: readonly Statement[]) =>
  Object.fromEntries([...shadowsAmong(all)].map(([id, shadow]) => [id, shadow.id]));

/** Whether one says something else about the same, more specifically or later in the same place. */
const overrides = (one: Statement, other: Statement): boolean =>
  one.subject !== null &&
  one.subject === other.subject &&
  one.hash !== other.hash &&
  (one.rank < other.rank ||
    (one.rank === other.rank &&
      one.scope === other.scope &&
      (one.updatedAtMs > other.updatedAtMs || (one.updatedAtMs === other.updatedAtMs && one.id > other.id))));

describe('What holds of statements about one subject (C-22)', () => {
  it('is the more specific, whichever is later', () => {
    const user = statement('u', { rank: 2 });
    const team = statement('t', { rank: 5, updatedAtMs: 9 });
    expect(shadows([team, user])).toEqual({ t: 'u' });
  });

  it('is the later of one place, and at one moment that with the greater id', () => {
    expect(shadows([statement('a'), statement('b', { updatedAtMs: 1 })])).toEqual({ a: 'b' });
    expect(shadows([statement('a', { updatedAtMs: 1 }), statement('b')])).toEqual({ b: 'a' });
    expect(shadows([statement('b'), statement('a')])).toEqual({ a: 'b' });
  });

  it('is both of two scopes of one layer, and of two subjects', () => {
    expect(shadows([statement('a'), statement('b', { scope: 'p' })])).toEqual({});
    expect(shadows([statement('a', { rank: 1 }), statement('b', { subject: 'host' })])).toEqual({});
    const none = { subject: null };
    expect(shadows([statement('a', { rank: 1, ...none }), statement('b', none)])).toEqual({});
  });

  it('is also whatever says the same', () => {
    const same = { hash: 'same' };
    const all = [
      statement('a', { rank: 1, ...same }),
      statement('b', { rank: 2 }),
      statement('c', { rank: 3, ...same }),
    ];
    expect(shadows(all)).toEqual({ b: 'a' });
  });

  it('contradicts what is less specific, also where only one of two scopes does', () => {
    const team = statement('t', { rank: 5, hash: 'x' });
    const all = [statement('p', { scope: 'p', hash: 'x' }), statement('q', { scope: 'q', hash: 'y' }), team];
    expect(shadows(all)).toEqual({ t: 'q' });
  });

  it('is the same whatever the order in which they come (property)', () => {
    const shuffled = statements.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, ([all, other]) => {
        expect(shadows(other)).toEqual(shadows(all));
        expect(other.toSorted(moreSpecificFirst)).toEqual(all.toSorted(moreSpecificFirst));
      }),
      { numRuns: 500 },
    );
  });

  it('is what nothing that holds overrides; all else is shadowed by the first of what does (property)', () => {
    fc.assert(
      fc.property(statements, (all) => {
        const found = shadowsAmong(all);
        const holding = all.filter(({ id }) => !found.has(id)).toSorted(moreSpecificFirst);
        for (const one of all) expect(found.get(one.id)).toBe(holding.find((other) => overrides(other, one)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is never shadowed by what is less specific, and no shadow is shadowed (property)', () => {
    fc.assert(
      fc.property(statements, (all) => {
        const found = shadowsAmong(all);
        for (const one of all) {
          const shadow = found.get(one.id);
          if (shadow === undefined) continue;
          expect(shadow.rank).toBeLessThanOrEqual(one.rank);
          expect(found.has(shadow.id)).toBe(false);
        }
        for (const subject of ['port', 'host']) {
          const about = all.filter((one) => one.subject === subject);
          if (about.length > 0) expect(about.some(({ id }) => !found.has(id))).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is found among many in one go', () => {
    const all = Array.from({ length: 50_000 }, (_, at) =>
      statement(`${at}`, { scope: `${at % 25_000}`, rank: 4 + (at % 2), hash: `${at}` }),
    );
    expect(shadowsAmong(all).size).toBeGreaterThan(25_000);
  });
});

describe('What was found', () => {
  const found = fc.uniqueArray(
    fc.record({
      id: fc.integer({ min: 0, max: 99 }).map(String),
      score: fc.constantFrom(0.1, 0.5, 1),
      rank: fc.integer({ min: 1, max: 7 }),
    }),
    { selector: ({ id }) => id },
  );

  it('is sorted by score, then by layer, the same whatever the order in which it comes (property, C-22)', () => {
    fc.assert(
      fc.property(found, (all) => {
        const sorted = all.toSorted(byRelevance);
        expect(all.toReversed().toSorted(byRelevance)).toEqual(sorted);
        for (const [at, next] of sorted.slice(1).entries()) {
          const one = sorted[at] as (typeof sorted)[number];
          expect(one.score).toBeGreaterThanOrEqual(next.score);
          if (one.score === next.score) expect(one.rank).toBeLessThanOrEqual(next.rank);
        }
      }),
    );
  });
});
