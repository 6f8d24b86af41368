import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type AgentClient,
  type Capability,
  capability,
  defineAgent,
  clientOf,
  startSystem,
  type System,
} from 'orrery';
import { type CRDTSyncChannel, documentOf } from 'orrery/shared-state';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SYNC_SCHEMA } from '../../actors/shared-state/sync-envelope.ts';
import { allRecords } from '../../runtime/journal/all-records.ts';
import { SqliteStore } from '../../runtime/journal/sqlite-store.ts';
import {
  addNumber,
  awaitNumber,
  fail,
  noteNumber,
  openPlan,
  type Plan,
  planOf,
  readPlan,
} from '../fixtures/agents/planning.ts';
import { writePlanKeys } from '../fixtures/plan-keys.ts';
import { times } from '../fixtures/effort.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { agent, rejection, until } from '../fixtures/until.ts';
import { CONDITIONS } from '../fixtures/conditions.ts';

const HOST = fileURLToPath(new URL('../fixtures/planning-host.ts', import.meta.url));
const KILLS = times(2, 5);
const SEED = 20_261_122;
const BOTH = 'mars,venus';

let folder: string;
let journal: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-documents-'));
  journal = join(folder, 'journal.db');
  file = join(folder, 'acknowledged');
  writeFileSync(file, '');
  writePlanKeys(join(folder, 'keys'), ['mars', 'venus', 'system/host']);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** One process of the system. */
class Host {
  errors = '';
  readonly plans: Plan[] = [];
  readonly gone: Promise<unknown>;
  readonly #child;

  constructor(...order: (string | number)[]) {
    const words = [...CONDITIONS, HOST, journal, file, ...order.map(String)];
    this.#child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.gone = once(this.#child, 'close');
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
    });
    let printed = '';
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      this.plans.splice(0);
      for (const [, plan = ''] of printed.matchAll(/^plan (.*)\n/gm))
        this.plans.push(JSON.parse(plan) as Plan);
    });
  }

  /** Resolves with the plans that its agents have begun with. */
  async begun(agents: number): Promise<readonly Plan[]> {
    while (this.plans.length < agents) {
      const isOver = await Promise.race([
        once(this.#child.stdout, 'data').then(() => false),
        this.gone.then(() => true),
      ]);
      if (isOver && this.plans.length < agents) throw new Error(`It ended without a word: ${this.errors}`);
    }
    return this.plans;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.gone;
  }
}

/** Who noted which number, as far as it was told that it is kept. */
const acknowledged = (): readonly (readonly [who: string, n: string])[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' ') as [string, string]);

/** A plan that an agent has begun with has all that was acknowledged before. */
function expectKept({ numbers }: Plan, by = BOTH, before = acknowledged()): void {
  const lost = before.filter(([who, n]) => by.includes(who) && numbers[n] !== who);
  expect(lost).toEqual([]);
}

describe('Shared documents of durable agents (F-01, N-9.1, N-9.2, N-9.3)', () => {
  it(`are as they were acknowledged in the next process, over ${KILLS} kills`, async () => {
    const random = seededRandom(SEED);
    let before = acknowledged();
    for (let round = 0; round < KILLS; round++) {
      const host = new Host(BOTH, 'edit', round * 100_000);
      for (const plan of await host.begun(2)) {
        expectKept(plan, BOTH, before);
        expect(plan.refused).not.toHaveProperty('REPLAYED');
        expect(plan.refused).not.toHaveProperty('FORGED');
      }
      await until('both had some acknowledged', () => {
        const news = acknowledged().slice(before.length);
        return news.length > 10 && new Set(news.map(([who]) => who)).size === 2;
      });
      await new Promise((resolve) => setTimeout(resolve, random() * 400));
      await host.kill();
      before = acknowledged();
    }
    expect(before.length).toBeGreaterThan(KILLS * 10);
    expect(await recordsInJournal()).toBeLessThan(80 * KILLS);
    // What an agent was told is kept is in its own log, whoever else is there.
    for (const id of ['mars', 'venus']) {
      const [plan] = await new Host(id, 'read').begun(1);
      expectKept(plan as Plan, id);
    }
    const both = await new Host(BOTH, 'read').begun(2);
    for (const plan of both) expectKept(plan);
  });
});

const ask = (system: System, id: string, n: number) =>
  system.ask({ agent: id, capability: addNumber }, { n, file });
const planAt = (system: System, id: string) => system.ask({ agent: id, capability: readPlan }, {});

/** Both have all these numbers in their plans. */
const haveAll = (system: System, numbers: readonly number[]) =>
  until(`both have ${numbers}`, async () => {
    const plans = await Promise.all([planAt(system, 'mars'), planAt(system, 'venus')]);
    return plans.every((plan) => numbers.every((n) => String(n) in plan.numbers)) && plans;
  });

const team = (kind: 'plans' | 'plans-lightly') => ({
  agents: [agent(`mars-${kind}`), agent(`venus-${kind}`)],
  supervision: { backOff: { firstMs: 1, maxMs: 1 }, intensity: { maxRestarts: 100 } },
});

describe('A shared document in a running system (N-9.1, N-9.2, N-9.3)', () => {
  it('outlives the threads of its durable agents, and is shared again', async () => {
    const system = await startSystem({ journal: { path: journal }, ...team('plans') });
    try {
      const places = (await system.roster()).map(({ id, place }) => `${id} ${place}`);
      expect(places).toEqual(expect.arrayContaining(['mars worker-1', 'venus worker-2']));
      await Promise.all([ask(system, 'mars', 1), ask(system, 'venus', 2)]);
      await system.terminate('worker-1');
      await ask(system, 'mars', 3);
      await haveAll(system, [1, 2, 3]);
      await Promise.all([system.terminate('worker-1'), system.terminate('worker-2')]);
      await Promise.all([ask(system, 'mars', 4), ask(system, 'venus', 5)]);
      for (const plan of await haveAll(system, [1, 2, 3, 4, 5])) expectKept(plan);
    } finally {
      await system.stop();
    }
  });

  it('is opened anew by the next actor of an agent, kept in the journal or in its thread', async () => {
    for (const kind of ['plans', 'plans-lightly'] as const) {
      const system = await startSystem({
        ...(kind === 'plans' ? { journal: { path: journal } } : {}),
        ...team(kind),
      });
      try {
        await Promise.all([ask(system, 'mars', 1), ask(system, 'venus', 2)]);
        for (const id of ['mars', 'venus'])
          expect(await rejection(system.ask({ agent: id, capability: fail }, {}))).toMatchObject({
            code: 'HANDLER_FAILED',
          });
        await Promise.all([ask(system, 'mars', 3), ask(system, 'venus', 4)]);
        await haveAll(system, [1, 2, 3, 4]);
        const events = await system.recentEvents();
        expect(events.filter(({ security }) => security === true)).toEqual([]);
      } finally {
        await system.stop();
      }
    }
  });

  it('takes in what others change while its agent is busy', async () => {
    const system = await startSystem({ journal: { path: journal }, ...team('plans') });
    try {
      const waiting = system.ask({ agent: 'venus', capability: awaitNumber }, { n: 7 });
      await ask(system, 'mars', 7);
      expect(await waiting).toBe('mars');
    } finally {
      await system.stop();
    }
  });

  it('keeps what an agent changes when the system stops, and nothing of what it says of it', async () => {
    const first = await startSystem({ journal: { path: journal }, ...team('plans') });
    await ask(first, 'mars', 1);
    await first.stop();
    const store = SqliteStore.open({ path: journal });
    expect(await store.mails({ limit: 10 })).toEqual([]);
    await store.close();
    const second = await startSystem({ journal: { path: journal }, ...team('plans') });
    try {
      const [plan] = await haveAll(second, [1, -1]);
      expect(plan?.numbers['-1']).toMatch(/^(mars|venus) stopped$/);
    } finally {
      await second.stop();
    }
  });

  it('is shared and kept by the embedder, too', async () => {
    for (const life of [1, 2]) {
      const system = await startSystem({ journal: { path: journal }, ...team('plans') });
      try {
        const plan = await openPlan(await system.client());
        if (life === 2) expect(planOf(plan).numbers).toMatchObject({ 10: 'host', 11: 'mars' });
        noteNumber(plan, 10 * life, 'host');
        await plan.whenKept();
        await ask(system, 'mars', 11);
        await haveAll(system, [10 * life, 11]);
        await until('the embedder has it', () => planOf(plan).numbers['11'] === 'mars');
        expect(await rejection(openPlan(await system.client()))).toMatchObject({
          code: 'REFUSED',
          message: expect.stringContaining('plan'),
        });
      } finally {
        await system.stop();
      }
    }
  });

  it('is shared by members whose tiers may not write to each other: they were judged when they joined (C-32)', async () => {
    const [note, hear] = ['plan.note', 'plan.see'].map((id) =>
      capability({ id, description: id, input: z.object({ n: z.int() }), output: z.string() }),
    ) as [Capability<{ n: number }, string>, Capability<{ n: number }, string>];
    const member = (id: string, tier: 1 | 2) =>
      defineAgent({ id, name: id, version: '1.0.0', description: 'Shares the plan', tier })
        .onStart(async (ctx) => {
          await openPlan(clientOf(ctx));
        })
        .handle(note, ({ n }, ctx) => {
          noteNumber(documentOf(clientOf(ctx), 'plan') as CRDTSyncChannel, n, ctx.self);
          return ctx.self;
        })
        .handle(hear, async ({ n }, ctx) => {
          const { document } = documentOf(clientOf(ctx), 'plan') as CRDTSyncChannel;
          const numbers = document.getMap<string>('numbers');
          while (!numbers.has(String(n)))
            await new Promise<void>((resolve) => numbers.observe(() => resolve()));
          return numbers.get(String(n)) as string;
        });
    const system = await startSystem({ agents: [member('mars', 1), member('venus', 2)] });
    try {
      for (const [by, to, n] of [
        ['mars', 'venus', 1],
        ['venus', 'mars', 2],
      ] as const) {
        await system.ask({ agent: by, capability: note }, { n });
        expect(await system.ask({ agent: to, capability: hear }, { n })).toBe(by);
      }
      expect((await system.recentEvents()).filter(({ errorCode }) => errorCode === 'TIER_VIOLATION')).toEqual(
        [],
      );
    } finally {
      await system.stop();
    }
  });

  it('is open until its agent has ended, though what it sends by itself is refused while the system stops', async () => {
    const released = Promise.withResolvers<void>();
    const hold = capability({
      id: 'plan.hold',
      description: 'Holds',
      input: z.object({}),
      output: z.boolean(),
    });
    const clients = new Map<string, AgentClient>();
    const begun = Promise.withResolvers<void>();
    const open: boolean[] = [];
    const isOpen = (client: AgentClient) => documentOf(client, 'plan') !== undefined;
    const agents = ['mars', 'venus'].map((id) =>
      defineAgent({ id, name: id, version: '1.0.0', description: 'Shares the plan', tier: 2 })
        .onStart(async (ctx) => {
          clients.set(id, clientOf(ctx));
          await openPlan(clientOf(ctx));
        })
        .handle(hold, async (_, ctx) => {
          begun.resolve();
          await released.promise;
          return isOpen(clientOf(ctx));
        })
        .onStop((ctx) => void open.push(isOpen(clientOf(ctx)))),
    );
    const system = await startSystem({ agents });
    const held = system.ask({ agent: 'mars', capability: hold }, {});
    await begun.promise;
    const stopping = system.stop({ drainMs: 60_000 });
    const mars = clients.get('mars') as AgentClient;
    const plan = documentOf(mars, 'plan') as CRDTSyncChannel;
    await until('what it sends by itself is refused', () => {
      const { errorCode } = mars.send({
        recipient: 'venus',
        type: 'notification',
        payload: 1,
        isFleeting: true,
      });
      return errorCode === 'SYSTEM_STOPPED';
    });
    noteNumber(plan, 1, 'mars');
    await plan.whenKept();
    // As long as it takes to close one.
    for (let turn = 0; turn < 100; turn += 1) await setImmediate();
    released.resolve();
    expect(await held).toBe(true);
    await stopping;
    expect(open).toEqual([true, true]);
  });

  it('is no way past the tiers to a handler of an agent that has not opened it (C-32, N-E03)', async () => {
    const sneak = capability({
      id: 'sneak.in',
      description: 'Tries',
      input: z.object({}),
      output: z.boolean(),
    });
    const given: unknown[] = [];
    const agents = [
      defineAgent({ id: 'above', name: 'A', version: '1.0.0', description: 'Is above', tier: 2 }).on(
        'stream-data',
        ({ payload }) => void given.push(payload),
      ),
      defineAgent({ id: 'below', name: 'B', version: '1.0.0', description: 'Sneaks', tier: 1 }).handle(
        sneak,
        (_, ctx) => {
          const frame = {
            recipient: 'above',
            type: 'stream-data',
            payload: { let: 'me in' },
            isFrame: true,
          } as const;
          // Not even as an answer to something.
          const sent = [
            frame,
            { ...frame, schema: SYNC_SCHEMA },
            { ...frame, inReplyTo: ctx.envelope.id },
          ].map((message) => clientOf(ctx).send(message));
          return sent[2]?.delivered === true;
        },
      ),
    ];
    const system = await startSystem({ agents });
    try {
      expect(await system.ask(sneak, {})).toBe(false);
      const letters = await until('both are refused', async () => {
        const found = await system.deadLetters();
        return found.length === 2 && found;
      });
      expect(letters.map(({ recipient, code }) => [recipient, code])).toEqual([
        ['above', 'TIER_VIOLATION'],
        ['above', 'TIER_VIOLATION'],
      ]);
      expect(given).toEqual([]);
    } finally {
      await system.stop();
    }
  });

  it('is kept in the journal of durable agents alone', async () => {
    const system = await startSystem();
    try {
      const refused = await rejection(openPlan(await system.client(), { maxGapMessages: 0 }));
      expect(refused).toMatchObject({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining('limits.maxGapMessages'),
      });
      const plan = await openPlan(await system.client());
      noteNumber(plan, 1, 'host');
      await plan.whenKept();
      await plan.close();
      // In memory it lasts as long as the thread.
      expect(planOf(await openPlan(await system.client())).numbers).toEqual({ 1: 'host' });
    } finally {
      await system.stop();
    }
  });
});

/** What is in the journal beside mail: documents, and what the runtime keeps for itself. */
async function recordsInJournal(): Promise<number> {
  const store = SqliteStore.open({ path: journal });
  let count = 0;
  for await (const _ of allRecords(store, 'agent')) count += 1;
  await store.close();
  return count;
}
