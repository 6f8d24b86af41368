// A proposal and a swarm. Run: npm exec -- node --conditions=orrery-source examples/swarm.ts
import { capability, considers, decline, defineAgent, startSystem, takeOn } from 'orrery';
import { z } from 'zod';

const Text = z.object({ text: z.string() });
const count = capability({ id: 'words.count', description: 'Counts words', input: Text, output: z.int() });
const shout = capability({ id: 'words.shout', description: 'Shouts', input: Text, output: z.string() });

const card = { version: '1.0.0', description: 'Works with words', tier: 3 } as const;
const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

const io = defineAgent({ id: 'io', name: 'IO', ...card }).handle(count, ({ text }) => words(text).length);

// One that is asked first, and looks at the task before it takes it on.
const triton = defineAgent({ id: 'triton', name: 'TRITON', ...card })
  .handle(shout, ({ text }) => text.toUpperCase())
  .on(
    'task-proposal',
    considers(({ estimatedComplexity }) =>
      estimatedComplexity === 'complex'
        ? decline({ reason: 'TOO_HARD', alternative: 'io' })
        : takeOn({ estimatedCompletionMs: 50 }),
    ),
  );

await using system = await startSystem({ agents: [io, triton] });

// A task for one: whoever takes it on holds a lease on it until somebody says that it is over.
const proposal = await system.negotiator.propose({
  taskDescription: 'Shout something',
  requiredCapabilities: [shout.id],
  estimatedComplexity: 'simple',
  deadlineMs: 5_000,
});
console.log(proposal.status, proposal.acceptedBy);
await system.negotiator.release(proposal.proposalId);

// A task for several: one part a capability, given to those who have it.
const { id } = await system.swarms.createSwarm('Work on a sentence', [count.id, shout.id], {
  input: { text: 'nothing is lost silently' },
});
const { status, results } = await system.swarms.outcome(id);
console.log(status, results);
