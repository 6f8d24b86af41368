import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type A2AEnvelope, type OrreryError, SCHEMA_VERSION, startSystem, type System } from 'orrery';
import { afterAll, describe, expect, it } from 'vitest';
import { first } from '../fixtures/agents/chain.ts';
import { record, relay } from '../fixtures/agents/numbers.ts';
import { arm } from '../fixtures/agents/letter-teller.agent.ts';
import { times } from '../fixtures/effort.ts';
import { linesOf } from '../fixtures/lines-of.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const ENVELOPES = times(1_500, 10_000);
const KILLS = 5;
/** What a death at full speed may cut off: one batch. */
const BATCH = 128;
const SENDERS = ['host', 'far', 'near'] as const;
const PATIENCE_MS = 100_000;
/** A thread that was killed is to be back at once. */
const backOff = { firstMs: 1, maxMs: 1 };

const folder = mkdtempSync(join(tmpdir(), 'orrery-kill-'));
afterAll(() => rmSync(folder, { recursive: true }));

const sizeOf = (file: string): number => (existsSync(file) ? statSync(file).size : 0);

/** Waits until the file has grown by so many bytes, looking as often as the event loop turns. */
async function growth(file: string, bytes: number): Promise<void> {
  const before = sizeOf(file);
  const endMs = performance.now() + PATIENCE_MS;
  while (sizeOf(file) < before + bytes) {
    if (performance.now() > endMs) throw new Error(`${file} does not grow`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Sends the numbered envelopes in parts, and kills the threads of `places` in the middle of each part but the last. */
async function sendUnderFire(
  system: System,
  places: readonly string[],
  payload: { file: string; spinMs: number },
): Promise<void> {
  const part = Math.ceil(ENVELOPES / (KILLS + 1));
  for (let from = 0; from < ENVELOPES; from += part) {
    const begun = growth(payload.file, 500);
    for (let n = from; n < Math.min(from + part, ENVELOPES); n++) {
      const sent = await system.send(numbered(n, payload));
      if (!sent.delivered) throw new Error(`${sent.errorCode}: ${sent.error}`);
    }
    if (from + part >= ENVELOPES) return;
    await begun;
    await Promise.all(places.map((place) => system.terminate(place)));
  }
}

/** The counts, if every accepted envelope has an outcome and all of them agree. */
async function isSettled(system: System) {
  const counts = await system.conservation();
  return counts.inFlight === 0 && counts.holds ? counts : undefined;
}

const settled = (system: System) => until('everything is settled', () => isSettled(system), PATIENCE_MS);

/** The ids that the recorder must see: what a relay passes on has an id derived from what it was given. */
const ids = Array.from({ length: ENVELOPES }, (_, n) => {
  const sender = SENDERS[n % SENDERS.length] as (typeof SENDERS)[number];
  return sender === 'host' ? `host-${n}` : `${sender}-${n}~1`;
});

interface Run {
  readonly started: readonly string[];
  readonly counts: Awaited<ReturnType<typeof settled>>;
  readonly letters: Awaited<ReturnType<System['deadLetters']>>;
}

/** Numbered envelopes from three senders to one recorder, whose thread, with one of the senders, is killed again and again. */
async function runNumbers(delivery: 'once' | 'retry', spinMs: number): Promise<Run> {
  const file = join(folder, `${delivery}-${spinMs}`);
  const system = await startSystem({
    agents: [
      agent(`${delivery}-recorder`),
      agent('relay', { instances: ['far'] }),
      agent('relay', { instances: ['near'] }),
    ],
    supervision: { backOff },
  });
  try {
    const places = (await system.roster()).map(({ id, place }) => `${id} ${place}`);
    expect(places).toEqual(['recorder worker-1', 'far worker-2', 'near worker-1']);
    await sendUnderFire(system, ['worker-1'], { file, spinMs });
    const counts = await settled(system);
    const recorder = (await system.roster()).find(({ id }) => id === 'recorder');
    expect(recorder).toMatchObject({ status: 'running', restarts: KILLS, place: 'worker-1' });
    return { started: linesOf(file), counts, letters: await system.deadLetters() };
  } finally {
    await system.stop();
  }
}

function numbered(n: number, payload: object): A2AEnvelope {
  const sender = SENDERS[n % SENDERS.length] as (typeof SENDERS)[number];
  const isDirect = sender === 'host';
  return {
    id: `${sender}-${n}`,
    schemaVersion: SCHEMA_VERSION,
    sender: 'system/host',
    recipient: isDirect ? 'recorder' : sender,
    type: 'notification',
    timestamp: Date.now(),
    payload,
    metadata: { tier: 0, capability: isDirect ? record.id : relay.id },
  };
}

/** Says of every sender whether the first occurrences of its envelopes are in their order. */
function expectOrder(started: readonly string[]): void {
  for (const sender of SENDERS) {
    const numbers = [...new Set(started)]
      .filter((id) => id.startsWith(sender))
      .map((id) => Number.parseInt(id.slice(sender.length + 1), 10));
    expect(numbers).toEqual([...numbers].sort((one, other) => one - other));
  }
}

describe('An agent whose thread is killed five times [C-36, F-01]', () => {
  it.each([
    ['at full speed', 0, KILLS * BATCH],
    ['with handlers of 1 ms', 1, KILLS],
  ])(
    'handles every envelope %s and few of them twice, if it tries again',
    async (_, spinMs, mostTwice) => {
      const { started, counts, letters } = await runNumbers('retry', spinMs);
      expect(new Set(started)).toEqual(new Set(ids));
      expect(started.length - ids.length).toBeLessThanOrEqual(mostTwice);
      expectOrder(started);
      expect(letters).toEqual([]);
      expect(counts).toMatchObject({ handled: counts.accepted, rejected: 0, expired: 0, deadLettered: 0 });
    },
    PATIENCE_MS,
  );

  it.each([
    ['at full speed', 0],
    ['with handlers of 1 ms', 1],
  ])(
    'starts none twice %s and names every one it did not handle, if it does not',
    async (_, spinMs) => {
      const { started, counts, letters } = await runNumbers('once', spinMs);
      expect(new Set(started).size).toBe(started.length);
      expectOrder(started);
      const reasons = new Map(letters.map(({ id, code, reason }) => [id, { code, reason }]));
      expect(ids.filter((id) => !started.includes(id) && !reasons.has(id))).toEqual([]);
      expect(letters.filter(({ id }) => !ids.includes(id as string))).toEqual([]);
      for (const { code, reason } of reasons.values()) {
        expect(['ACTOR_DIED', 'THREAD_DIED']).toContain(code);
        expect(reason).toContain('it was ended from outside');
      }
      expect(
        letters.filter(({ id, code }) => code === 'THREAD_DIED' && started.includes(id as string)),
      ).toEqual([]);
      expect(counts).toMatchObject({ deadLettered: letters.length, rejected: 0, expired: 0 });
    },
    PATIENCE_MS,
  );
});

describe('Two threads that are killed at once, five times', () => {
  it(
    'take along only what one had sent to the other: everything else is handled, and all of it is counted',
    async () => {
      const file = join(folder, 'both');
      const system = await startSystem({
        agents: [
          agent('retry-recorder'),
          agent('relay', { instances: ['far'] }),
          agent('relay', { instances: ['near'] }),
        ],
        supervision: { backOff },
      });
      try {
        await sendUnderFire(system, ['worker-1', 'worker-2'], { file, spinMs: 0 });
        const { accepted, handled, deadLettered } = await settled(system);
        expect(handled + deadLettered).toBe(accepted);
        const started = new Set(linesOf(file));
        expect(ids.filter((id) => !started.has(id) && !id.startsWith('far'))).toEqual([]);
        const letters = await system.deadLetters();
        expect(letters.length).toBe(deadLettered);
        expect(new Set(letters.map(({ recipient }) => recipient))).toEqual(new Set(['recorder']));
        for (const { code } of letters) expect(['THREAD_DIED', 'ACTOR_DIED']).toContain(code);
        expect(ids.length - started.size).toBeLessThanOrEqual(deadLettered);
      } finally {
        await system.stop();
      }
    },
    PATIENCE_MS,
  );
});

describe('A thread that ends between telling of dead letters and counting them', () => {
  it('has them told once: its successor tells those that it counts (F-01)', async () => {
    const system = await startSystem({ agents: [agent('letter-teller')], supervision: { backOff } });
    try {
      const armed = Promise.withResolvers<void>();
      const asked = system.ask({ agent: 'letter-teller', capability: arm }, undefined, {
        onProgress: () => armed.resolve(),
      });
      const refused = rejection(asked);
      await armed.promise;
      const waiting = Array.from({ length: 10 }, (_, n) => `waits-${n}`);
      for (const id of waiting) {
        const { delivered } = await system.send({
          id,
          schemaVersion: SCHEMA_VERSION,
          sender: 'system/host',
          recipient: 'letter-teller',
          type: 'notification',
          timestamp: Date.now(),
          payload: null,
          metadata: { tier: 0, capability: arm.id },
        });
        expect(delivered).toBe(true);
      }
      await system.stopAgent('letter-teller');
      await refused;
      const { deadLettered } = await settled(system);
      const letters = (await system.deadLetters()).map(({ id }) => id);
      expect(letters.length).toBe(deadLettered);
      expect(letters.filter((id) => waiting.includes(id as string)).sort()).toEqual(waiting);
      const died = (await system.recentEvents()).filter(({ type }) => type === 'place-died');
      expect(died).toHaveLength(1);
    } finally {
      await system.stop();
    }
  });
});

describe('A thread that is killed while it is being replaced', () => {
  it('is replaced all the same, and nothing is lost', async () => {
    const file = join(folder, 'again');
    const system = await startSystem({ agents: [agent('retry-recorder')] });
    try {
      const sent = Array.from({ length: 100 }, (_, n) => numbered(3 * n, { file, spinMs: 1 }));
      const kills: Promise<void>[] = [];
      for (const envelope of sent) {
        await system.send(envelope);
        kills.push(system.terminate('worker-1'));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await Promise.all(kills);
      const counts = await settled(system);
      expect(counts).toMatchObject({ handled: sent.length, deadLettered: 0 });
      expect(new Set(linesOf(file))).toEqual(new Set(sent.map(({ id }) => id)));
      // What was sent last may have been handled before the last kill: then only its replacement is under way.
      const row = await until('it runs', async () =>
        (await system.roster()).find(({ status }) => status === 'running'),
      );
      expect(row).toMatchObject({ id: 'recorder', place: 'worker-1' });
    } finally {
      await system.stop();
    }
  });
});

describe('A chain of asks whose middle is killed five times', () => {
  const LANES = 8;
  const ASKS = times(300, 2_000);

  /** What became of each ask: its answer, or the code it was refused with. */
  async function runChain(delivery: 'once' | 'retry') {
    const file = join(folder, `chain-${delivery}`);
    const firsts = Array.from({ length: LANES }, (_, lane) => `first-${lane}`);
    const system = await startSystem({
      agents: [agent('chain-middle'), agent('chain-first', { instances: firsts }), agent('chain-last')],
      workers: 3,
      // Who asks an agent that dies over it dies too: that is not what is counted here.
      supervision: { intensity: { maxRestarts: 1_000 }, backOff },
    });
    try {
      const outcomes: (number | string)[] = [];
      let isKilled = false;
      const askInTurn = async (id: string, lane: number): Promise<void> => {
        for (let n = lane; n < ASKS || !isKilled; n += LANES) {
          const asked = system.ask({ agent: id, capability: first }, { n, file, delivery });
          outcomes[n] = await asked.catch((error: OrreryError) => error.code);
        }
      };
      const asking = Promise.all(firsts.map(askInTurn));
      for (let kill = 0; kill < KILLS; kill++) {
        await growth(file, 2_000);
        await system.terminate('worker-1');
      }
      isKilled = true;
      await asking;
      const counts = await settled(system);
      expect(counts.expired).toBe(0);
      return { outcomes, lines: linesOf(file) };
    } finally {
      await system.stop();
    }
  }

  it(
    'answers every ask, and what it sent onward is neither lost nor doubled, if it tries again',
    async () => {
      const { outcomes, lines } = await runChain('retry');
      const numbers = Array.from(outcomes, (_, n) => n);
      expect(outcomes).toEqual(numbers);
      expect(lines.length).toBe(2 * numbers.length);
      expect(new Set(lines)).toEqual(new Set(numbers.flatMap((n) => [`noted ${n}`, `asked ${n}`])));
    },
    PATIENCE_MS,
  );

  it(
    'ends every ask, and doubles nothing that it sent onward, if it does not',
    async () => {
      const { outcomes, lines } = await runChain('once');
      expect(new Set(lines).size).toBe(lines.length);
      const seen = new Set(lines);
      for (const [n, outcome] of outcomes.entries()) {
        if (outcome !== n) expect(outcome).toBe('ACTOR_DIED');
        else expect(seen.has(`noted ${n}`) && seen.has(`asked ${n}`)).toBe(true);
      }
      expect(outcomes.filter((outcome) => outcome === 'ACTOR_DIED').length).toBeLessThanOrEqual(
        KILLS * LANES,
      );
    },
    PATIENCE_MS,
  );
});
