import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Faults, type SimulateOptions, simulate } from '../../simulate.ts';
import { times } from '../fixtures/effort.ts';
import { checkOutcome } from '../unit/actors/swarm/swarm-checks.ts';
import { type AgentDefinition, capability, defineAgent, swarmsOf } from 'orrery';
import { assignmentIn, type SwarmOutcome } from 'orrery/swarm';
import { z } from 'zod';

const Dug = z.object({ subTask: z.string(), epoch: z.number(), agent: z.string() });
const dig = capability({ id: 'dig', description: 'Digs', input: z.object({ ms: z.number() }), output: Dug });
const lead = capability({ id: 'lead', description: 'Has others dig', input: z.object({}), output: z.void() });

const LIMITS = { leaseMs: 10_000, graceMs: 5_000, recruitMs: 10_000 };
const PLAN = Array.from({ length: 8 }, (_, at) => ({
  id: `part-${at}`,
  requiredCapabilities: ['dig'],
  input: { ms: 50 + at * 20 },
  dependsOn: at % 3 === 2 ? [`part-${at - 1}`] : [],
}));

/** What the world outside sees of a team: who began on what, how its swarm ended, and what broke. */
interface DiggingLedger {
  readonly begun: { readonly assignment: string; readonly agent: string }[];
  outcome: SwarmOutcome | undefined;
  isMade: boolean;
}

const newDiggingLedger = (): DiggingLedger => ({ begun: [], outcome: undefined, isMade: false });

/** Whoever is for `retry` and begins again on what a death cut off. */
const BEGINS_AGAIN = 'stubborn';

/**
 * A team that digs, in a simulation: three durable diggers, one of whom tries again, and one of whom nothing outlives the
 * process. The swarm is the embedder's, or that of a foreman who makes it in a handler and tries again.
 */
function diggingTeam(
  seed: number,
  ledger: DiggingLedger,
  { owner, faults }: { readonly owner: 'system/host' | 'foreman'; readonly faults: Faults },
): SimulateOptions {
  const about = { name: 'NAME', version: '1.0.0', description: 'Digs', tier: 2 } as const;
  const digger = (id: string, durable: boolean, delivery: 'once' | 'retry' = 'once') =>
    defineAgent({ id, ...about, durable, delivery }).handle(dig, async ({ ms }, ctx) => {
      const { swarmId = '', subTaskId = '', epoch = 0 } = assignmentIn(ctx.envelope) ?? {};
      ledger.begun.push({ assignment: `${swarmId} ${subTaskId} ${epoch}`, agent: ctx.self });
      for (let quarter = 1; quarter <= 4; quarter += 1) {
        await ctx.sleep(ms / 4);
        ctx.progress(quarter / 4);
      }
      return { subTask: subTaskId, epoch, agent: ctx.self };
    });
  const foreman = defineAgent({
    id: 'foreman',
    ...about,
    durable: true,
    delivery: 'retry',
    handlingTimeoutMs: 600_000,
  }).handle(lead, async (_input, ctx) => {
    const swarms = swarmsOf(ctx);
    const { id } = await swarms.createSwarm('Dig', [], { ...LIMITS, plan: PLAN });
    ledger.outcome = await swarms.outcome(id);
  });
  const diggers = [
    digger('ant', true),
    digger('mole', true),
    digger(BEGINS_AGAIN, true, 'retry'),
    digger('day-labourer', false),
  ];
  const agents = [
    ...diggers,
    ...(owner === 'foreman' ? [foreman] : []),
  ] as unknown as AgentDefinition<unknown>[];
  return {
    agents,
    seed,
    journal: true,
    workers: 3,
    keepsTrace: false,
    faults,
    run: async (team, { sleep }) => {
      if (owner === 'foreman') {
        if (!ledger.isMade) team.tell({ agent: 'foreman', capability: lead }, {});
        await team.whenKept();
        ledger.isMade = true;
        while (ledger.outcome === undefined) await sleep(100);
        return;
      }
      const [known] = team.swarms.listSwarms();
      if (known === undefined && ledger.isMade) throw new Error('The swarm is gone');
      const { id } = known ?? (await team.swarms.createSwarm('Dig', [], { ...LIMITS, plan: PLAN }));
      await team.whenKept();
      ledger.isMade = true;
      ledger.outcome = await team.swarms.outcome(id);
    },
  };
}

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
