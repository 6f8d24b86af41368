import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Faults, simulate } from '../../simulate.ts';
import { BEGINS_AGAIN, diggingTeam, newDiggingLedger } from '../fixtures/digging-team.ts';
import { times } from '../fixtures/effort.ts';
import { checkOutcome } from '../unit/actors/swarm/swarm-checks.ts';

const RUNS = times(25, 100);
const seeds = fc.integer({ min: 1, max: 1_000_000 });

const faultsOf = (most: number): Faults => ({
  hostCrash: { probability: 0.004, most },
  slowDisk: { probability: 0.1 },
  freeze: { probability: 0.001, most: 1 },
  delay: { probability: 0.02 },
});

describe('Swarms of durable owners in a simulation (N-8.4, N-8.5, N-8.6, F-02, F-11)', () => {
  it.each([
    ['the process ends, made by the embedder', 'system/host', faultsOf(5)],
    // The third process that ends over an envelope is the last one.
    ['the process ends, made by the handler of an agent that tries again', 'foreman', faultsOf(2)],
    [
      'the process or a thread ends',
      'system/host',
      { ...faultsOf(1), crash: { probability: 0.003, most: 2 } },
    ],
    [
      'the process or a thread ends, made by a handler',
      'foreman',
      { ...faultsOf(1), crash: { probability: 0.003, most: 1 } },
    ],
  ] as const)(
    'are done once, however often %s',
    async (_, owner, faults) => {
      const ends = { deaths: 0, again: 0 };
      await fc.assert(
        fc.asyncProperty(seeds, async (seed) => {
          const ledger = newDiggingLedger();
          const options = diggingTeam(seed, ledger, { owner, faults });
          const { violations, error, stats } = await simulate(options);
          expect({ violations, error }).toEqual({ violations: [], error: undefined });
          const { outcome, begun } = ledger;
          if (outcome === undefined) throw new Error('Nobody learned how the swarm ended');
          checkOutcome(outcome);
          expect(outcome.status).toBe('completed');
          for (const { id, result, assignments, agentId } of outcome.subTasks)
            expect(result).toEqual({ subTask: id, epoch: assignments.length, agent: agentId });
          const holders = new Map<string, string>();
          for (const { assignment, agent } of begun) {
            const former = holders.get(assignment);
            if (former !== undefined) expect([former, agent]).toEqual([BEGINS_AGAIN, BEGINS_AGAIN]);
            holders.set(assignment, agent);
          }
          ends.deaths += stats.faults.hostCrash;
          ends.again += outcome.subTasks.filter(({ assignments }) => assignments.length > 1).length;
        }),
        { numRuns: RUNS },
      );
      expect(ends.deaths).toBeGreaterThan(0.3 * RUNS);
      expect(ends.again).toBeGreaterThan(0.1 * RUNS);
    },
    180_000,
  );
});
