import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Conservation } from 'orrery';
import { describe, expect, it } from 'vitest';
import type { FloodWay } from '../fixtures/agents/flooding.ts';
import type { Told } from '../fixtures/flood.ts';
import { CONDITIONS } from '../fixtures/conditions.ts';
import { times } from '../fixtures/effort.ts';

interface Outcome {
  readonly told: readonly Told[];
  /** What each receiver had handled in the end. */
  readonly handled: readonly number[];
  readonly growthMb: number;
  readonly tookMs: number;
  readonly during: Conservation;
  readonly after: Conservation;
}

const inWords = (count: number): string => count.toLocaleString('en');
const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const MOST_MB = 60;
const CAPACITY = 1_000;
/** How many wait for room, from each sender. */
const WAITING = times(3_000, 20_000);
/** How many are sent at once, to who can take a thousand. */
const AT_ONCE = times(200_000, 1_000_000);
/** How many payloads of 1 MB go there and back. */
const LARGE = times(250, 600);

/** Runs a script in a process of its own, which has to end by itself. Its heaps are small: garbage is no held mail. */
async function run<Printed>(script: string, ...args: string[]): Promise<Printed> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      '--expose-gc',
      '--max-semi-space-size=4',
      '--max-old-space-size=64',
      ...CONDITIONS,
      fixture(script),
      ...args,
    ],
    { timeout: 100_000 },
  );
  return JSON.parse(stdout) as Printed;
}

const floods = (way: FloodWay, count: number, ...senders: ('host' | 'worker')[]): Promise<Outcome> =>
  run('flood-child.ts', way, String(count), ...senders);

describe('A flood at an agent that handles 1,000 a second (F-01, F-12)', () => {
  it.each(['host', 'worker'] as const)(
    `of ${inWords(AT_ONCE)} is bounded in memory, and its sender is told of each that did not fit: from the %s`,
    async (from) => {
      const { told, tookMs, growthMb, during, after } = await floods('reject', AT_ONCE, from);
      const [{ accepted = 0, full = 0, otherwise = 0 } = {}] = told;
      expect(accepted + full).toBe(AT_ONCE);
      expect(otherwise).toBe(0);
      // What fitted at once, and what was handled meanwhile.
      expect(accepted).toBeGreaterThanOrEqual(CAPACITY);
      expect(accepted).toBeLessThanOrEqual(CAPACITY + tookMs + 50);
      expect([during.holds, after.holds]).toEqual([true, true]);
      expect(growthMb).toBeLessThan(MOST_MB);
    },
  );

  it(`of ${inWords(WAITING)} that wait for room is bounded in memory and loses none: from the host and from a worker`, async () => {
    const { told, handled, growthMb, during, after } = await floods('park', WAITING, 'host', 'worker');
    expect(told).toEqual([
      { accepted: WAITING, full: 0, otherwise: 0 },
      { accepted: WAITING, full: 0, otherwise: 0 },
    ]);
    expect(handled).toEqual([WAITING, WAITING]);
    expect([during.holds, after.holds]).toEqual([true, true]);
    expect(after).toMatchObject({ inFlight: 0, rejected: 0, expired: 0, deadLettered: 0 });
    expect(growthMb).toBeLessThan(MOST_MB);
  });

  it('of 1,500 that all wait at once is taken in order, and its thread goes on meanwhile', async () => {
    const { told, handled, after } = await floods('park-all', 1_500, 'host', 'worker');
    expect(told.map(({ accepted }) => accepted)).toEqual([1_500, 1_500]);
    expect(handled).toEqual([1_500, 1_500]);
    expect(after).toMatchObject({ holds: true, inFlight: 0, deadLettered: 0 });
  });
});

describe('Large payloads', () => {
  it(`are let go of: ${LARGE} of 1 MB there and back leave no more than a few behind`, async () => {
    const { growthMb } = await run<{ growthMb: number }>('large-child.ts', String(LARGE), '1000000');
    expect(growthMb).toBeLessThan(200);
  });
});
