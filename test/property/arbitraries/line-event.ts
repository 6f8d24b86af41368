import fc from 'fast-check';

/** One thing that happens to negotiators over a faulty line; `which` picks among envelopes or agents, or says how long. */
export interface LineEvent {
  readonly what: string;
  readonly which: number;
}

/** `more` is what happens beside what can happen on every line. */
export const arbLineEvent = (...more: fc.WeightedArbitrary<LineEvent>[]): fc.Arbitrary<LineEvent> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        what: fc.constantFrom('deliver', 'deliver', 'deliver', 'repeat', 'lose'),
        which: fc.nat(20),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        what: fc.constantFrom('accept', 'accept', 'accept', 'decline', 'release'),
        which: fc.nat(2),
      }),
    },
    { weight: 3, arbitrary: fc.record({ what: fc.constant('wait'), which: fc.nat(4_000) }) },
    ...more,
    {
      weight: 1,
      arbitrary: fc.record({ what: fc.constantFrom('withdraw', 'release-own'), which: fc.constant(0) }),
    },
  );
