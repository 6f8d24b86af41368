import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JournalRig, type RigLine, unitOf } from '../fixtures/journal-rig.ts';

const PLACES = 4;

/** What threads do: one writes a unit; or it tells another what it knows, which then follows from it. */
type Deed =
  | { readonly kind: 'write'; readonly place: number; readonly mails: number }
  | { readonly kind: 'tell'; readonly place: number; readonly to: number };

/** What else happens: a message of a line comes as an event, the event loop turns, the store has written. */
type Step =
  | Deed
  | { readonly kind: 'event'; readonly place: number }
  | { readonly kind: 'turn' }
  | { readonly kind: 'written' };

const place = fc.nat(PLACES - 1);
const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), place, mails: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('tell' as const), place, to: place }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: deed },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('event' as const), place }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'turn' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'written' as const }) },
);

/** Threads that write, and all that is known of what follows from what. */
class Threads {
  readonly rig: JournalRig;
  readonly #lines: RigLine[];
  /** Names of the units that each thread has written or heard of. */
  readonly #known = Array.from({ length: PLACES }, () => new Set<string>());
  readonly causes = new Map<string, ReadonlySet<string>>();
  readonly byLine: string[][] = Array.from({ length: PLACES }, () => []);
  readonly written: string[] = [];
  readonly numbers = new Map<string, number>();
  largestCut = 0;

  constructor(maxUnits: number, meanwhile: readonly (readonly Deed[])[]) {
    this.rig = new JournalRig({ limits: { units: maxUnits, mails: 9_999, characters: 99_999 } });
    this.#lines = Array.from({ length: PLACES }, () => this.rig.connect());
    const left = [...meanwhile];
    for (const { there } of this.#lines) {
      there.beforeTake = () => {
        for (const deed of left.shift() ?? []) this.do(deed);
      };
    }
  }

  do(deed: Deed): void {
    if (deed.kind === 'tell') {
      for (const name of this.#known[deed.place] ?? []) this.#known[deed.to]?.add(name);
      return;
    }
    const name = `u${this.causes.size}`;
    const known = this.#known[deed.place] as Set<string>;
    this.causes.set(name, new Set(known));
    known.add(name);
    this.byLine[deed.place]?.push(name);
    this.#lines[deed.place]?.line.write(unitOf(name, deed.mails), (first) => this.numbers.set(name, first));
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'event') this.#lines[step.place]?.there.deliver();
    else if (step.kind === 'turn') await this.rig.turn();
    else if (step.kind === 'written') await this.#finish();
    else this.do(step);
  }

  /** Until there is nothing left to do. */
  async settle(): Promise<void> {
    do {
      for (const { there } of this.#lines) there.deliverAll();
      await this.rig.turn();
      await this.#finish();
    } while (this.rig.asked.length > 0 || this.#lines.some(({ there }) => there.waiting.length > 0));
    for (const { here } of this.#lines) here.deliverAll();
  }

  async #finish(): Promise<void> {
    const [asked] = this.rig.asked;
    if (asked === undefined) return;
    this.largestCut = Math.max(this.largestCut, asked.batches.length);
    for (const { mails } of asked.batches) {
      const name = mails[0]?.body.split('.')[0] as string;
      for (const cause of this.causes.get(name) ?? [])
        expect(this.written, `the cause of ${name}`).toContain(cause);
      this.written.push(name);
    }
    await this.rig.succeed();
  }
}

describe('What the journal writes together', () => {
  it('holds the causes of all that is in it, before it or in what was written earlier', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 30, maxLength: 100 }),
        fc.array(fc.array(deed, { maxLength: 4 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 12 }),
        async (steps, meanwhile, maxUnits) => {
          const threads = new Threads(maxUnits, meanwhile);
          for (const next of steps) await threads.take(next);
          await threads.settle();
          expect(threads.largestCut).toBeLessThanOrEqual(maxUnits);
          expect(threads.written.toSorted()).toEqual([...threads.causes.keys()].toSorted());
          expectOwnNumbers(threads);
        },
      ),
      { numRuns: 300 },
    );
  });
});

/** Every unit was written once, each line's in its order, and each was told the number that its first mail got. */
function expectOwnNumbers({ written, byLine, numbers, rig }: Threads): void {
  for (const own of byLine) expect(written.filter((name) => own.includes(name))).toEqual(own);
  const firsts = [...rig.medium.mails].filter(([, { body }]) => body.endsWith('.0'));
  expect(firsts.map(([number, { body }]) => [body.slice(0, -2), number])).toEqual(
    written.map((name) => [name, numbers.get(name)]),
  );
}
