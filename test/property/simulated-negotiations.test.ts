import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Faults, type SimulateOptions, type SimulatedTeam, simulate } from '../../simulate.ts';
import { times } from '../fixtures/effort.ts';
import { z } from 'zod';
import {
  capability,
  considers,
  decline,
  defineAgent,
  negotiatorOf,
  takeOn,
  type TaskProposal,
  whenAssigned,
} from 'orrery';

/** What the agent knows of these proposals. */
const recall = capability({
  id: 'test.recall',
  description: 'Says what it knows',
  input: z.object({ proposalIds: z.array(z.string()) }),
  output: z.array(z.unknown()),
});
const deal = capability({ id: 'test.deal', description: 'Is done', input: z.unknown(), output: z.null() });

const CARD = { version: '1.0.0', description: 'Bargains', tier: 0 } as const;
const ROUNDS_OF_WORK = 12;
const BIDDERS = ['io', 'triton', 'europa'];

/** What the world outside of a process knows, whatever becomes of that. */
interface Ledger {
  proposed: number;
  /** How a proposal was decided, as its proposer knew when that was first seen; in words. */
  readonly decided: Map<string, string>;
  readonly broken: string[];
}

const newLedger = (): Ledger => ({ proposed: 0, decided: new Map(), broken: [] });

const bidder = (id: string) =>
  defineAgent({ id, name: id, durable: true, delivery: id === 'io' ? 'retry' : 'once', ...CARD })
    .handle(deal, () => null)
    .handle(recall, ({ proposalIds }, ctx) =>
      proposalIds.map((proposalId) => negotiatorOf(ctx).getProposal(proposalId) ?? null),
    )
    .on(
      'task-proposal',
      considers(async (_, ctx) => {
        await ctx.sleep(ctx.random() * 100);
        return ctx.random() < 0.5 ? takeOn({ estimatedCompletionMs: 500 }) : decline({ reason: 'NOT_NOW' });
      }),
    )
    .on(
      'task-accept',
      whenAssigned(async ({ proposalId }, ctx) => {
        await ctx.sleep(ctx.random() * 3_000);
        await negotiatorOf(ctx).release(proposalId);
      }),
    );

const outcomeOf = ({ status, acceptedBy = 'nobody' }: TaskProposal): string => `${status} by ${acceptedBy}`;

/** Writes down how everything stands, when that is kept, and what has changed that must not. */
async function look(ledger: Ledger, team: SimulatedTeam, ids: readonly string[]): Promise<void> {
  const known = ids.map((proposalId) => team.negotiator.getProposal(proposalId));
  if (!(await isKept(team))) return;
  ids.forEach((proposalId, at) => {
    const proposal = known[at];
    const before = ledger.decided.get(proposalId);
    if (proposal === undefined) ledger.broken.push(`${proposalId} is forgotten`);
    else if (before !== undefined && before !== outcomeOf(proposal))
      ledger.broken.push(`${proposalId} was ${before}, and is ${outcomeOf(proposal)}`);
    else if (proposal.status !== 'pending') ledger.decided.set(proposalId, outcomeOf(proposal));
  });
}

const isKept = (team: SimulatedTeam): Promise<boolean> =>
  team.whenKept().then(
    () => true,
    () => false,
  );

/**
 * An embedder that proposes a few tasks to durable agents, whose process ends again and again. It is done when all are
 * decided and nobody has any of them any more.
 */
const bargainingTeam = (seed: number, ledger: Ledger, faults: Faults, count = 4): SimulateOptions => {
  const kept: string[] = [];
  return {
    agents: BIDDERS.map(bidder),
    seed,
    faults,
    journal: true,
    keepsTrace: false,
    supervision: { intensity: { maxRestarts: 1_000 } },
    invariants: [() => ledger.broken[0]],
    run: async (system, { sleep, random }) => {
      const team = system as SimulatedTeam;
      await look(ledger, team, kept);
      while (ledger.proposed < count) {
        ledger.proposed += 1;
        const known = new Set(team.negotiator.listPending().map(({ proposalId }) => proposalId));
        const options = { leaseMs: 2_000 + random() * 6_000 };
        void team.negotiator
          .propose(
            {
              taskDescription: 'Do it',
              requiredCapabilities: [deal.id],
              estimatedComplexity: 'simple',
              deadlineMs: 200 + random() * 4_000,
            },
            options,
          )
          .catch(() => undefined);
        await sleep(1);
        const fresh = team.negotiator.listPending().filter(({ proposalId }) => !known.has(proposalId));
        while (!(await isKept(team))) await sleep(10);
        kept.push(...fresh.map(({ proposalId }) => proposalId));
        await sleep(random() * 200);
      }
      const isOpen = (id: string): boolean => {
        const proposal = team.negotiator.getProposal(id);
        return proposal?.status === 'pending' || proposal?.isHeld === true;
      };
      for (let round = 0; kept.some(isOpen); round++) {
        await sleep(400);
        await look(ledger, team, kept);
        // Whoever was cut off at its work does not come back to it.
        if (round > ROUNDS_OF_WORK) for (const id of kept) await team.negotiator.release(id);
      }
      // Whoever had it knows that it had it, and has it no more.
      for (const id of BIDDERS) {
        const known = (await team.ask(
          { agent: id, capability: recall },
          { proposalIds: kept },
        )) as (TaskProposal | null)[];
        known.forEach((proposal, at) => {
          const proposalId = kept[at] as string;
          if (proposal?.isHeld === true) ledger.broken.push(`${id} still has ${proposalId}`);
          if (team.negotiator.getProposal(proposalId)?.acceptedBy === id && proposal?.acceptedBy !== id)
            ledger.broken.push(`${id} does not know that it had ${proposalId}`);
        });
      }
    },
  };
};

const RUNS = times(40, 100);
const seeds = fc.integer({ min: 1, max: 1_000_000 });

/** The process ends often. */
const PROCESS_ENDS: Faults = {
  hostCrash: { probability: 0.003, most: 4 },
  slowDisk: { probability: 0.1, ms: [5, 100] },
  delay: { probability: 0.05 },
};
/** And so do its threads. */
const THREADS_END: Faults = { ...PROCESS_ENDS, crash: { probability: 0.002, most: 3 } };

/** Runs many teams under these faults; resolves with how often proposals ended how, and how many lives and deaths there were. */
async function bargain(faults: Faults) {
  const outcomes = { accepted: 0, rejected: 0, 'timed-out': 0 };
  const ends = { lives: 0, deaths: 0 };
  await fc.assert(
    fc.asyncProperty(seeds, async (seed) => {
      const ledger = newLedger();
      const { violations, error, ending, stats } = await simulate(bargainingTeam(seed, ledger, faults));
      const wrong = [...ledger.broken, ...violations];
      expect({ wrong, error, ending }).toEqual({ wrong: [], error: undefined, ending: 'quiet' });
      for (const outcome of ledger.decided.values())
        outcomes[outcome.split(' ')[0] as keyof typeof outcomes] += 1;
      ends.lives += stats.lives;
      ends.deaths += stats.faults.crash;
    }),
    { numRuns: RUNS },
  );
  return { outcomes, ends };
}

describe('Negotiations of durable agents in a simulation (F-02, F-03)', () => {
  it.each([
    ['its process', PROCESS_ENDS, 0],
    ['its process or a thread of it', THREADS_END, 0.2 * RUNS],
  ])(
    'come to one outcome each and end, however often %s ends',
    async (_, faults, leastDeaths) => {
      const { outcomes, ends } = await bargain(faults);
      expect(ends.lives).toBeGreaterThan(1.5 * RUNS);
      expect(ends.deaths).toBeGreaterThanOrEqual(leastDeaths);
      for (const [status, count] of Object.entries(outcomes))
        expect(count, status).toBeGreaterThan(times(1, 5));
    },
    120_000,
  );
});
