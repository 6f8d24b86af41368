import { capability, defineAgent } from 'orrery';
import type { Invariant } from 'orrery/simulate';
import { z } from 'zod';

const Text = z.object({ text: z.string() });
export const words = capability({
  id: 'text.words',
  description: 'Counts words',
  input: Text,
  output: z.int(),
});
export const lines = capability({
  id: 'text.lines',
  description: 'Counts lines',
  input: Text,
  output: z.int(),
});

/** What the customer pays for, as the table of a database has it: it outlives the agents, and their threads. */
interface Bill {
  readonly subTask: string;
  readonly units: number;
}

/**
 * Two agents that count, and bill what they have counted.
 *
 * An agent that dies on a sub-task is given it again, or another one is. With `'each attempt'` every attempt writes a bill:
 * the planted bug. With `'each sub-task'` a bill is written under the id that all attempts have in common.
 */
export function wordSwarm(bills: 'each attempt' | 'each sub-task') {
  const written: Bill[] = [];

  const bill = (subTask: string, units: number): void => {
    if (bills === 'each sub-task' && written.some((one) => one.subTask === subTask)) return;
    written.push({ subTask, units });
  };

  const counter = (id: string) =>
    defineAgent({ id, name: id, version: '1.0.0', description: 'Counts', tier: 3, delivery: 'retry' })
      .handle(words, async ({ text }, ctx) => {
        await ctx.sleep(10); // Counting takes its time.
        bill(subTaskOf(ctx.envelope.metadata), text.split(/\s+/).length);
        await ctx.sleep(5);
        return text.split(/\s+/).length;
      })
      .handle(lines, async ({ text }, ctx) => {
        await ctx.sleep(10);
        bill(subTaskOf(ctx.envelope.metadata), text.split('\n').length);
        await ctx.sleep(5);
        return text.split('\n').length;
      });

  const nothingIsBilledTwice: Invariant = () => {
    const twice = written.find((one, at) => written.findIndex(({ subTask }) => subTask === one.subTask) < at);
    return twice === undefined ? undefined : 'A sub-task was billed twice';
  };

  return { agents: [counter('io'), counter('triton')], invariants: [nothingIsBilledTwice] };
}

/** What a sub-task of a swarm is known by, whoever works on it and however often. */
function subTaskOf(metadata: Readonly<Record<string, unknown>> | undefined): string {
  const { swarmId, subTaskId } = (metadata?.['swarm'] ?? {}) as Partial<Record<string, string>>;
  return `${swarmId}/${subTaskId}`;
}
