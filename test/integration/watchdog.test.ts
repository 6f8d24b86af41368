import { startSystem, type System, type SystemEvent } from 'orrery';
import { describe, expect, it } from 'vitest';
import { loop, patience } from '../fixtures/agents/looper.ts';
import { hit } from '../fixtures/agents/player.ts';
import { fill } from '../fixtures/agents/teller.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const PATIENCE_MS = 100_000;
const looper = { agent: 'looper', capability: loop };

/** Places agents in turn: the first and the third share `worker-1`. */
async function withSystem(
  options: Parameters<typeof startSystem>[0],
  run: (system: System) => Promise<void>,
): Promise<void> {
  const system = await startSystem(options);
  try {
    await run(system);
  } finally {
    await system.stop();
  }
}

const rowOf = async (system: System, id: string) => (await system.roster()).find((row) => row.id === id);

/** The watchdog tells of a thread that loops; of one that gets no processor it tells in other words. */
const isOfLoop = ({ type, reason }: SystemEvent): boolean =>
  type === 'watchdog' && reason?.startsWith('it loops') === true;

const isRunning = (system: System, id: string): Promise<unknown> =>
  until(`${id} runs`, async () => (await rowOf(system, id))?.status === 'running');

async function settledCounts(system: System) {
  const counts = await system.conservation();
  return counts.inFlight === 0 && counts.holds ? counts : undefined;
}

/** Has the agent loop, and waits for its end. */
async function loopOnce(system: System, how: 'loop' | 'loopLater' = 'loop'): Promise<void> {
  expect((await rejection(system.ask(looper, { how, ms: 0 }, { timeoutMs: PATIENCE_MS }))).code).toBe(
    'ACTOR_DIED',
  );
}

describe('An endless loop', () => {
  it('is found and ended, and the agent answers again', () =>
    withSystem({ agents: [agent('looper')] }, async (system) => {
      await loopOnce(system);
      expect(await system.ask(looper, { how: 'answer', ms: 0 })).toBe('answered');
      expect(await rowOf(system, 'looper')).toMatchObject({ status: 'running', restarts: 1 });
      const events = await system.recentEvents();
      // A busy machine leaves other threads without a sign of life, too.
      expect(events.filter(isOfLoop)).toMatchObject([{ place: 'worker-1' }]);
      expect(events.find(({ type }) => type === 'place-died')?.reason).toContain('an endless loop');
    }));

  it('is not seen in a thread that waits in a system call: that is reported, not ended', () =>
    withSystem({ agents: [agent('looper')] }, async (system) => {
      expect(await system.ask(looper, { how: 'block', ms: 1_500 })).toBe('answered');
      expect(await rowOf(system, 'looper')).toMatchObject({ status: 'running', restarts: 0 });
      const reports = (await system.recentEvents()).filter(({ type }) => type === 'watchdog');
      expect(reports.map(({ place }) => place)).toContain('worker-1');
      for (const { reason } of reports) expect(reason).toContain('no sign of life');
    }));

  it('is not seen in a thread whose agents send each other on and on', () =>
    withSystem(
      { agents: [agent('player', { instances: ['left', 'right'] })], workers: 1 },
      async (system) => {
        system.tell({ agent: 'left', capability: hit as never }, { untilMs: Date.now() + 2_000 });
        const counts = await until('the game is over', () => settledCounts(system));
        expect(counts.handled).toBeGreaterThan(1_000);
        expect((await system.recentEvents(10_000)).filter(isOfLoop)).toEqual([]);
      },
    ));

  it(
    'is charged to the agent whose code it is, not to a neighbour that waits, which is rid of it after two',
    () =>
      withSystem(
        {
          agents: [agent('looper'), agent('echo'), agent('patient')],
          // One charged restart would be too many for the neighbour.
          supervision: { groups: [{ name: 'innocent', agents: ['patient'], intensity: { maxRestarts: 0 } }] },
        },
        async (system) => {
          expect((await rowOf(system, 'patient'))?.place).toBe('worker-1');
          for (const death of [1, 2, 3, 4]) {
            await isRunning(system, 'patient');
            await isRunning(system, 'looper');
            const waiting = system.ask(
              { agent: 'patient', capability: patience },
              { ms: 60_000 },
              { timeoutMs: 60_000 },
            );
            const cutOff = rejection(waiting);
            await loopOnce(system);
            if (death > 2) continue;
            expect((await cutOff).code).toBe('ACTOR_DIED');
          }
          await until('it has failed', async () => (await rowOf(system, 'looper'))?.status === 'failed');
          expect(await rowOf(system, 'looper')).toMatchObject({ place: 'solo-looper', restarts: 3 });
          expect(await rowOf(system, 'patient')).toMatchObject({
            status: 'running',
            restarts: 2,
            place: 'worker-1',
          });
        },
      ),
    PATIENCE_MS,
  );

  it(
    'after an await is charged to all that had something in hand, until each has a thread of its own',
    () =>
      withSystem({ agents: [agent('looper'), agent('echo'), agent('patient')] }, async (system) => {
        for (const _death of [1, 2, 3]) {
          await isRunning(system, 'patient');
          await isRunning(system, 'looper');
          const waiting = system.ask(
            { agent: 'patient', capability: patience },
            { ms: 60_000 },
            { timeoutMs: 60_000 },
          );
          void waiting.catch(() => undefined);
          await loopOnce(system, 'loopLater');
        }
        expect(await rowOf(system, 'looper')).toMatchObject({ place: 'solo-looper' });
        expect(await rowOf(system, 'patient')).toMatchObject({
          place: 'solo-patient',
          restarts: 2,
          status: 'running',
        });
      }),
    PATIENCE_MS,
  );
});

describe('An envelope that ends its agent three times', () => {
  it(
    'is poison: it is dead-lettered, and those behind it are handled',
    () =>
      withSystem({ agents: [agent('looper'), agent('echo'), agent('patient')] }, async (system) => {
        const behind = [1, 2, 3].map((n) => ({ n, timeoutMs: PATIENCE_MS }));
        const poisoned = rejection(
          system.ask(looper, { how: 'loop', ms: 0 }, { delivery: 'retry', timeoutMs: PATIENCE_MS }),
        );
        const answers = behind.map(({ timeoutMs }) =>
          system.ask(looper, { how: 'answer', ms: 0 }, { timeoutMs }),
        );
        const { code: why, message } = await poisoned;
        expect(why).toBe('POISON');
        expect(message).toContain('the last time with: an endless loop');
        expect(await Promise.all(answers)).toEqual(['answered', 'answered', 'answered']);
        expect(await rowOf(system, 'looper')).toMatchObject({
          status: 'running',
          restarts: 3,
          place: 'solo-looper',
        });
        const counts = await until('everything is settled', () => settledCounts(system));
        expect(counts).toMatchObject({ accepted: 4, handled: 3, deadLettered: 1 });
        const letters = await system.deadLetters();
        expect(letters.map(({ code, recipient }) => `${code} ${recipient}`)).toEqual(['POISON looper']);
      }),
    PATIENCE_MS,
  );
});

describe('An agent that died too often', () => {
  it(
    'is given up: its mail is dead-lettered, until it is restarted by hand',
    () =>
      withSystem(
        { agents: [agent('looper')], supervision: { intensity: { maxRestarts: 1 } } },
        async (system) => {
          await loopOnce(system);
          const last = loopOnce(system);
          const behind = rejection(system.ask(looper, { how: 'answer', ms: 0 }, { timeoutMs: PATIENCE_MS }));
          await last;
          expect((await behind).code).toBe('SUPERVISOR_GAVE_UP');
          expect((await rejection(system.ask(looper, { how: 'answer', ms: 0 }))).code).toBe(
            'SUPERVISOR_GAVE_UP',
          );
          expect(await rowOf(system, 'looper')).toMatchObject({ status: 'failed', restarts: 1 });
          await until('both are dead-lettered', async () => {
            const letters = await system.deadLetters();
            return letters.filter(({ code }) => code === 'SUPERVISOR_GAVE_UP').length === 2;
          });
          await system.restart('looper');
          await isRunning(system, 'looper');
          expect(await system.ask(looper, { how: 'answer', ms: 0 })).toBe('answered');
        },
      ),
    PATIENCE_MS,
  );

  it(
    'stays given up when a neighbour ends their thread',
    () =>
      withSystem(
        {
          agents: [agent('looper'), agent('echo'), agent('patient')],
          supervision: { intensity: { maxRestarts: 0 } },
        },
        async (system) => {
          await loopOnce(system);
          await until('it has failed', async () => (await rowOf(system, 'looper'))?.status === 'failed');
          await system.terminate('worker-1');
          await isRunning(system, 'patient');
          expect((await rejection(system.ask(looper, { how: 'answer', ms: 0 }))).code).toBe(
            'SUPERVISOR_GAVE_UP',
          );
        },
      ),
    PATIENCE_MS,
  );

  it(
    'waits longer before every restart but the first',
    () =>
      withSystem(
        { agents: [agent('looper')], supervision: { backOff: { firstMs: 3_000, factor: 2, jitter: 0 } } },
        async (system) => {
          for (const _death of [1, 2, 3]) await loopOnce(system);
          await isRunning(system, 'looper');
          const events = (await system.recentEvents(10_000)).filter(({ agentId }) => agentId === 'looper');
          const times = (type: string): number[] =>
            events.filter((event) => event.type === type).map(({ timestamp }) => timestamp);
          const starts = times('agent-started').slice(1);
          const waits = times('agent-crashed').map((crashedAt, at) => (starts[at] as number) - crashedAt);
          expect(waits.length).toBe(3);
          const [first, second, third] = waits as [number, number, number];
          expect(second).toBeGreaterThanOrEqual(2_999);
          expect(third).toBeGreaterThanOrEqual(5_999);
          // How long a thread takes to start is in all of them, and is less than what the second one waits.
          expect(first).toBeLessThan(second);
        },
      ),
    PATIENCE_MS,
  );
});

describe('A thread that is blocked', () => {
  it('holds up nobody else, however much is sent to it', () =>
    withSystem(
      { agents: [agent('looper'), agent('teller'), agent('patient'), agent('echo')] },
      async (system) => {
        let isBlocked = true;
        const blocked = system.ask(looper, { how: 'block', ms: 8_000 }).finally(() => {
          isBlocked = false;
        });
        // More than the credit between two threads: the neighbour of the teller gets its mail all the same.
        const accepted = await system.ask(fill, { to: ['looper', 'patient'], count: 900 });
        expect(accepted).toBe(1_800);
        expect(isBlocked).toBe(true);
        expect(await blocked).toBe('answered');
        const counts = await until('everything is settled', () => settledCounts(system));
        expect(counts.rejected).toBe(accepted);
      },
    ));
});
