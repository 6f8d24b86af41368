import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSystem, type System } from 'orrery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { enter, fail, read, type Tally } from '../fixtures/agents/tallying.ts';
import { times } from '../fixtures/effort.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { agent, rejection, until } from '../fixtures/until.ts';
import { inHand, rowOf, tellNumbers, toldBy, version, wholeSum } from '../fixtures/upgrading.ts';
import { CONDITIONS } from '../fixtures/conditions.ts';

const HOST = fileURLToPath(new URL('../fixtures/tally-host.ts', import.meta.url));
const KILLS = times(2, 6);
const SEED = 40_261_122;
const ROUND = 300;
/** What is kept is said after the first, and then after so many. */
const BURST = 10;

let folder: string;
let journal: { path: string };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-states-'));
  journal = { path: join(folder, 'journal.db') };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Drained {
  readonly tallies: Readonly<Record<string, Tally>>;
  readonly dead: readonly { readonly to: string; readonly code: string; readonly n: number }[];
  readonly conservation: { readonly holds: boolean; readonly inFlight: number };
}

const start = (...order: (string | number)[]) =>
  spawn(process.execPath, [...CONDITIONS, HOST, journal.path, ...order.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });

/** Sends until a burst is kept and `afterMs` more, then dies. Resolves to what was said to be kept. */
async function sendAndDie(from: number, afterMs: number): Promise<number> {
  const child = start('send', from, ROUND);
  const gone = once(child, 'close');
  let kept = from;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    for (const [, said] of text.matchAll(/^kept (\d+)$/gm)) kept = Number(said);
  });
  while (kept <= from + BURST && child.exitCode === null)
    await Promise.race([once(child.stdout, 'data'), gone]);
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  child.kill('SIGKILL');
  await gone;
  return kept;
}

async function drain(): Promise<Drained> {
  const child = start('drain');
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  await once(child, 'close');
  return JSON.parse(printed) as Drained;
}

const to = (name: string) => ({ agent: name, capability: enter });
const tallyOf = (system: System, name = 'once-tally'): Promise<Tally> =>
  system.ask({ agent: name, capability: read }, undefined);
const ofAdder = () => ({ journal: { ...journal, durable: 'all' as const } });

describe('The state of a durable agent (F-10)', () => {
  it(`is that of all that was settled and of nothing else, over ${KILLS} kills of the process`, async () => {
    const random = seededRandom(SEED);
    const kept: number[] = [];
    for (let round = 0; round < KILLS; round++) {
      const from = round * ROUND;
      const until = await sendAndDie(from, random() * 200);
      for (let n = from; n < until; n++) kept.push(n);
    }
    const { tallies, dead, conservation } = await drain();
    expect(conservation).toMatchObject({ holds: true, inFlight: 0 });
    expect(kept.length).toBeGreaterThan(KILLS * BURST);
    for (const [name, { begun, entered }] of Object.entries(tallies)) {
      const told = dead.filter((letter) => letter.to === name).map(({ n }) => n);
      expect(begun, name).toBe(entered.length);
      expect(new Set([...entered, ...told]).size, name).toBe(entered.length + told.length);
      expect([...entered, ...told], name).toEqual(expect.arrayContaining(kept));
      if (name !== 'once-tally') expect(told).toEqual([]);
    }
  }, 120_000);

  it('is not that of what was in hand when it was written', async () => {
    const first = await startSystem({ journal, agents: [agent('once-tally')] });
    for (const n of [1, 2, 3]) first.tell(to('once-tally'), { n });
    first.tell(to('once-tally'), { n: 4, ms: 60_000 });
    await first.whenKept();
    await until('it is at the last', async () => (await first.conservation()).inFlight === 1);
    await first.stop({ drainMs: 0 });
    await using second = await startSystem({ journal, agents: [agent('once-tally')] });
    expect(await tallyOf(second)).toEqual({ begun: 3, entered: [1, 2, 3] });
    expect(await second.deadLetters()).toMatchObject([{ code: 'ACTOR_DIED', recipient: 'once-tally' }]);
  });

  it('outlives its thread, and not its own death', async () => {
    const agents = [agent('once-tally'), agent('machine-tally')];
    await using system = await startSystem({ journal, agents });
    for (const name of ['once-tally', 'machine-tally']) {
      for (const n of [1, 2]) system.tell(to(name), { n });
      await tallyOf(system, name);
      await system.whenKept();
      const { place } = (await rowOf(system, name)) as { place: string };
      await system.terminate(place);
      system.tell(to(name), { n: 3 });
      expect(await tallyOf(system, name)).toEqual({ begun: 3, entered: [1, 2, 3] });
    }
    await rejection(system.ask({ agent: 'once-tally', capability: fail }, undefined));
    system.tell(to('once-tally'), { n: 4 });
    expect(await tallyOf(system)).toEqual({ begun: 1, entered: [4] });
    await system.stop();
    await using next = await startSystem({ journal, agents });
    expect(await tallyOf(next)).toEqual({ begun: 1, entered: [4] });
    expect(await tallyOf(next, 'machine-tally')).toEqual({ begun: 3, entered: [1, 2, 3] });
  });

  it('moves to the next version with its migration when the process starts with that', async () => {
    const first = await startSystem({ ...ofAdder(), agents: [{ module: version('adder-1') }] });
    tellNumbers(first, { last: 20 });
    await toldBy(first);
    await first.stop();
    await using second = await startSystem({ ...ofAdder(), agents: [{ module: version('adder-2') }] });
    expect(await toldBy(second)).toEqual({ version: '2.0.0', totals: { host: wholeSum(20) }, lives: 2 });
  });

  it('waits, parked and visible, for code that can go on with it, also over further processes', async () => {
    const first = await startSystem({ ...ofAdder(), agents: [{ module: version('adder-1') }] });
    tellNumbers(first, { last: 20 });
    await toldBy(first);
    await first.stop();
    for (let process = 0; process < 2; process++) {
      const system = await startSystem({ ...ofAdder(), agents: [{ module: version('adder-2-without') }] });
      expect(await rowOf(system)).toMatchObject({ status: 'parked', parked: { from: { version: '1.0.0' } } });
      if (process === 0) tellNumbers(system, { first: 21, last: 25 });
      await system.whenKept();
      await system.stop({ drainMs: 0 });
    }
    await using system = await startSystem({
      ...ofAdder(),
      agents: [{ module: version('adder-2-without') }],
    });
    await system.resume('adder', { module: version('adder-2') });
    expect(await toldBy(system)).toEqual({ version: '2.0.0', totals: { host: wholeSum(25) }, lives: 2 });
  });

  it('is begun anew when an upgrade or its resumption says so', async () => {
    const first = await startSystem({ ...ofAdder(), agents: [{ module: version('adder-1') }] });
    tellNumbers(first, { last: 20 });
    await toldBy(first);
    await first.upgrade('adder', { module: version('adder-1-mapped'), fresh: true });
    await first.stop();
    await using second = await startSystem({ ...ofAdder(), agents: [{ module: version('adder-1') }] });
    expect(await toldBy(second)).toMatchObject({ totals: {} });
  });

  it('is what the upgrade made of it, also when nothing was handled since', async () => {
    const first = await startSystem({ ...ofAdder(), agents: [{ module: version('adder-1') }] });
    tellNumbers(first, { last: 20 });
    const { done } = await inHand(first, 1);
    await done;
    await first.upgrade('adder', { module: version('adder-2') });
    await first.stop();
    await using second = await startSystem({ ...ofAdder(), agents: [{ module: version('adder-2') }] });
    expect(await toldBy(second)).toMatchObject({ totals: { host: wholeSum(20) }, lives: 2 });
  });
});
