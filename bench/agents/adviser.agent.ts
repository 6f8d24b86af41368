import { capability, defineAgent } from 'orrery';
import { taskOf } from 'orrery/tasks';
import { z } from 'zod';
import { ANSWER, CHUNK, chunksIn, TOLD_WORK } from '../gateway/server-order.ts';

const advise = capability({
  id: 'bench.advise',
  description: 'Says what is to be done',
  input: z.string(),
  output: z.string().optional(),
});

export const adviser = defineAgent({
  id: 'adviser',
  name: 'Adviser',
  version: '1.0.0',
  description: 'Says what is to be done, at once or piece by piece',
  tier: 2,
}).handle(advise, async (text, ctx) => {
  const count = chunksIn(text);
  const task = taskOf(ctx);
  if (text === TOLD_WORK) task?.say('It has begun.');
  if (count === 1) return ANSWER;
  for (let at = 0; at < count; at++)
    task?.artifact({
      artifactId: 'report',
      parts: [{ text: CHUNK }],
      append: at > 0,
      lastChunk: at === count - 1,
    });
  return undefined;
});
