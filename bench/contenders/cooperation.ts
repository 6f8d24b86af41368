import { startSystem, type Team } from 'orrery';
import { inspect } from '../capabilities.ts';
import { makeFinding } from '../envelope.ts';
import type { Contender } from '../measurement.ts';
import { pipelined } from '../pipelined.ts';

const MEMBER = new URL('../agents/member.agent.ts', import.meta.url);
const MEMBERS = 21;

/** Sub-tasks of one swarm. */
export const SWARM_SIZE = 200;

/** A system of so many members, and what is done with them from the thread that started it. */
const withMembers = (
  name: string,
  members: number,
  run: (team: Team, count: number) => Promise<void>,
): Contender => ({
  name,
  open: async () => {
    const instances = Array.from({ length: members }, (_, index) => `member-${index + 1}`);
    const team = await startSystem({ agents: [{ module: MEMBER, instances }], workers: 2 });
    return { run: (count) => run(team, count), close: () => team.stop() };
  },
});

/** One proposal after the other: proposed, taken on, confirmed by both sides, and over. */
export const proposals: Contender = withMembers('proposal', 1, async ({ negotiator }, count) => {
  for (let left = count; left > 0; left--) {
    const { status, proposalId } = await negotiator.propose({
      taskDescription: 'Inspect a finding',
      requiredCapabilities: [inspect.id],
      estimatedComplexity: 'simple',
      deadlineMs: 10_000,
    });
    if (status !== 'accepted') throw new Error(`A proposal was ${status}`);
    await negotiator.release(proposalId);
  }
});

/** One ask after the other, of the same member. */
export const sequentialAsks: Contender = withMembers('ask', 1, async (team, count) => {
  for (let left = count; left > 0; left--) await team.ask(inspect, makeFinding(left));
});

/** Swarms of 200 sub-tasks on 21 members, one after the other. */
export const swarms: Contender = withMembers('swarm', MEMBERS, async (team, count) => {
  for (let done = 0; done < count; done += SWARM_SIZE) {
    const plan = Array.from({ length: Math.min(SWARM_SIZE, count - done) }, (_, at) => ({
      requiredCapabilities: [inspect.id],
      input: makeFinding(done + at),
    }));
    const { id } = await team.swarms.createSwarm('Inspect findings', [inspect.id], { plan });
    const { status, error } = await team.swarms.outcome(id);
    if (status !== 'completed') throw new Error(`A swarm ${status}: ${error?.message}`);
  }
});

/** The same work without a swarm: each member is asked for its share, one after the other. */
export const sharedAsks: Contender = withMembers('asks by hand', MEMBERS, (team, count) =>
  pipelined(count, MEMBERS, (index) =>
    team.ask({ agent: `member-${(index % MEMBERS) + 1}`, capability: inspect }, makeFinding(index)),
  ),
);
