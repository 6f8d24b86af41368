// A bug in a swarm that only a crash brings to light, found in virtual time.
// Run: npm exec -- node --conditions=orrery-source examples/simulate-swarm/find-the-bug.ts
import { findFailure, type SimulatedTeam } from 'orrery/simulate';
import { constantFrom } from 'fast-check';
import { lines, words, wordSwarm } from './word-swarm.ts';

const commands = {
  // Has both agents work on a text.
  count: {
    input: constantFrom('one', 'two words', 'three\nlines of\nmore words'),
    run: async (team: SimulatedTeam, text: string) => {
      const { id } = await team.swarms.createSwarm('Count', [words.id, lines.id], { input: { text } });
      return team.swarms.outcome(id);
    },
  },
};

for (const bills of ['each attempt', 'each sub-task'] as const) {
  const failure = await findFailure({
    simulation: () => wordSwarm(bills),
    commands,
    breaking: ['crash'],
    runs: 40,
  });
  console.log(`A bill for ${bills}: ${failure?.report ?? 'nothing found in 40 runs'}`);
}
