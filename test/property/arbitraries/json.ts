import fc from 'fast-check';

/** What JSON says exactly. JSON writes -0 as 0, so a value is taken as JSON gives it back. */
export const arbJson = (): fc.Arbitrary<unknown> =>
  fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

/** The same without the key `__proto__`, which zod and others leave out wherever it stands. */
export const withoutProto = <Value>(values: fc.Arbitrary<Value>): fc.Arbitrary<Value> =>
  values.filter((value) => !JSON.stringify(value)?.includes('"__proto__":'));

/** Time in Unix milliseconds: whole, or with a fraction. */
export const arbTimestamp = (): fc.Arbitrary<number> =>
  fc.oneof(
    fc.nat(),
    fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    fc.double({ min: 1, max: 1e15, noNaN: true }),
  );

/** Text, names that objects have already among it. */
export const arbText = (constraints: fc.StringConstraints = {}): fc.Arbitrary<string> =>
  fc.oneof(
    { arbitrary: fc.string({ maxLength: 20, ...constraints }), weight: 6 },
    { arbitrary: fc.constantFrom('__proto__', 'constructor', 'hasOwnProperty'), weight: 1 },
  );
