import fc from 'fast-check';

/** Values that nobody expects, all of which JSON can say. */
export const HOSTILE: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  0.5,
  2 ** 31,
  2 ** 53,
  -1e308,
  '',
  'x',
  '__proto__',
  'constructor',
  '\u0000',
  '\ud800',
  [],
  [[]],
  [null],
  {},
  { constructor: 1 },
  JSON.parse('{"__proto__":{"polluted":true}}'),
  { value: null, length: -1 },
  'y'.repeat(5_000),
  nested(200),
];

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let at = 0; at < depth; at++) value = at % 2 === 0 ? [value] : { value };
  return value;
}

export const arbHostile = (): fc.Arbitrary<unknown> =>
  fc.oneof(fc.constantFrom(...HOSTILE), fc.jsonValue({ maxDepth: 2 }));

/** One wound: at the `at`-th place of a value, counted over all of them, something else, nothing, or itself twice. */
interface Wound {
  readonly at: number;
  readonly how: 'replaced' | 'removed' | 'added';
  readonly value: unknown;
}

const arbWound = (): fc.Arbitrary<Wound> =>
  fc.record({
    at: fc.nat(10_000),
    how: fc.constantFrom('replaced' as const, 'removed' as const, 'added' as const),
    value: arbHostile(),
  });

type Holder = Record<string, unknown> | unknown[];

/** Every place in a value that something could stand in: who holds it, and under which key. */
function placesOf(value: unknown): { readonly holder: Holder; readonly key: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Holder;
  return Object.keys(holder).flatMap((key) => [
    { holder, key },
    ...placesOf((holder as Record<string, unknown>)[key]),
  ]);
}

function wound(value: unknown, { at, how, ...given }: Wound): void {
  const instead = structuredClone(given.value);
  const places = placesOf(value);
  const place = places[at % Math.max(1, places.length)];
  if (place === undefined) return;
  const { holder, key } = place;
  if (how === 'added') {
    if (Array.isArray(holder)) holder.push(instead);
    else holder['unheard-of'] = instead;
  } else if (how === 'replaced') Object.assign(holder, { [key]: instead });
  else if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}

/** A copy of what JSON can say of `value`, with one to three wounds. */
export const arbDamaged = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<unknown> =>
  fc.tuple(value, fc.array(arbWound(), { minLength: 1, maxLength: 3 })).map(([whole, wounds]) => {
    const copy = JSON.parse(JSON.stringify(whole)) as unknown;
    for (const one of wounds) wound(copy, one);
    return copy;
  });

/** A text of which bytes have been flipped, cut off, or put in. */
export const arbTorn = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(
      text,
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { maxLength: 4 }),
      fc.option(fc.nat()),
    )
    .map(([whole, flips, cut]) => {
      const bytes = Buffer.from(whole);
      for (const [at, bits] of flips) {
        const place = at % Math.max(1, bytes.length);
        bytes[place] = (bytes[place] ?? 0) ^ bits;
      }
      return bytes.subarray(0, cut === null ? bytes.length : cut % (bytes.length + 1)).toString();
    });
