import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Restart, parseSupervisorOptions } from '../../runtime/supervision/supervisor-options.ts';
import { Supervisor } from '../../runtime/supervision/supervisor.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

const AGENTS = ['a', 'b', 'c', 'd', 'alone'];
const GROUPED = AGENTS.slice(0, 4);

const agent = fc.constantFrom(...AGENTS);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('started' as const), agent }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('crashed' as const), agent, charged: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('all-crashed' as const), culprit: agent }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('exited', 'stop', 'restart' as const), agent }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(20_000) }) },
);

const team = fc.record({
  strategy: fc.constantFrom('one-for-one' as const, 'one-for-all' as const, 'rest-for-one' as const),
  maxRestarts: fc.nat(4),
  kinds: fc.array(fc.constantFrom<Restart>('permanent', 'permanent', 'transient', 'temporary'), {
    minLength: AGENTS.length,
    maxLength: AGENTS.length,
  }),
});

describe('a supervisor', () => {
  it('starts only what is not alive, in start order, within the intensity, and leaves nobody waiting for ever', () => {
    fc.assert(
      fc.property(team, fc.array(step, { maxLength: 80, size: 'max' }), (options, steps) => {
        const { strategy, maxRestarts, kinds } = options;
        const clock = new FakeClock();
        const alive = new Set<string>();
        const gaveUp: string[] = [];
        const starts: { agentIds: readonly string[]; afterDeath: boolean; atMs: number }[] = [];
        const supervisor = new Supervisor(
          {
            seams: { clock, random: () => 0.5 },
            start: (agentIds, afterDeath) => {
              starts.push({ agentIds, afterDeath, atMs: clock.monotonicMs() });
              for (const agentId of agentIds) {
                expect(alive.has(agentId), `${agentId} is started twice`).toBe(false);
                expect(supervisor.status(agentId).status).toBe('starting');
                alive.add(agentId);
              }
              const inGroup = agentIds.filter((agentId) => GROUPED.includes(agentId));
              if (strategy !== 'one-for-one') expect(inGroup).toEqual([...inGroup].sort());
            },
            stop: (agentIds) => {
              for (const agentId of agentIds) {
                expect(alive.delete(agentId), `${agentId} is stopped when it is not alive`).toBe(true);
              }
            },
            onEvent: () => undefined,
            onGaveUp: (agentId) => gaveUp.push(agentId),
          },
          parseSupervisorOptions({
            groups: [{ name: 'group', agents: GROUPED, strategy }],
            intensity: { maxRestarts },
            halfOpen: false,
          }),
        );
        AGENTS.forEach((agentId, index) => {
          supervisor.add(agentId, { restart: kinds[index] as Restart });
          alive.add(agentId);
        });

        for (const one of steps) {
          if (one.kind === 'advance') clock.advance(one.ms);
          else if (one.kind === 'all-crashed') {
            const crashes = AGENTS.filter((agentId) => alive.delete(agentId)).map((agentId) => ({
              agentId,
              reason: 'its thread died',
              charged: agentId === one.culprit,
            }));
            supervisor.crashedTogether(crashes);
          } else if (one.kind === 'crashed') {
            // A report may be late, about a life that is over: then nothing may come of it.
            const isNews = alive.delete(one.agent);
            const before = starts.length;
            supervisor.crashed(one.agent, { reason: 'boom', charged: one.charged });
            if (!isNews) expect(starts).toHaveLength(before);
          } else {
            if (one.kind === 'exited') alive.delete(one.agent);
            supervisor[one.kind](one.agent);
          }
          for (const agentId of AGENTS) {
            const { status } = supervisor.status(agentId);
            expect(alive.has(agentId), `${agentId} is ${status}`).toBe(
              status === 'starting' || status === 'running',
            );
          }
        }

        clock.advance(30_000);
        for (const agentId of AGENTS) {
          const { status } = supervisor.status(agentId);
          expect(status).not.toBe('restarting');
          if (status === 'failed') expect(gaveUp).toContain(agentId);
        }
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  it('never restarts one agent by itself more often in a window than it may', () => {
    fc.assert(
      fc.property(
        fc.nat(5),
        fc.array(fc.nat(30_000), { maxLength: 40, size: 'max' }),
        (maxRestarts, gaps) => {
          const clock = new FakeClock();
          const starts: number[] = [];
          const supervisor = new Supervisor(
            {
              seams: { clock, random: () => 0 },
              start: () => {
                starts.push(clock.monotonicMs());
                supervisor.started('a');
              },
              onEvent: () => undefined,
              onGaveUp: () => undefined,
            },
            parseSupervisorOptions({
              intensity: { maxRestarts, withinMs: 60_000 },
              backOff: { firstMs: 1, maxMs: 1 },
              halfOpen: false,
            }),
          );
          supervisor.add('a', { restart: 'permanent' });
          supervisor.started('a');
          for (const gap of gaps) {
            clock.advance(gap + 2);
            supervisor.crashed('a', { reason: 'boom', charged: true });
          }
          clock.advance(2);
          for (const at of starts) {
            // A restart follows its death by up to the back-off, here 1 ms.
            const inWindow = starts.filter((other) => other >= at && other <= at + 60_000 - 1);
            expect(inWindow.length).toBeLessThanOrEqual(maxRestarts);
          }
        },
      ),
    );
  });
});
