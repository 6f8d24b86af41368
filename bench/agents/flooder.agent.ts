import { setImmediate } from 'node:timers/promises';
import { defineAgent } from 'orrery';
import { makeFinding } from '../envelope.ts';
import { floodBurst } from './flood-capabilities.ts';

/** A flooder lets its thread do other things between slices, as a handler that awaits something does. */
const SLICE = 1_000;

export const flooder = defineAgent({
  id: 'flooder',
  name: 'Flooder',
  version: '1.0.0',
  description: 'Floods',
  tier: 2,
}).handle(floodBurst, async ({ recipient, forMs, whenFull }, ctx) => {
  const endMs = performance.now() + forMs;
  let sent = 0;
  let accepted = 0;
  const isOver = (): boolean => performance.now() >= endMs;
  while (!isOver()) {
    for (let slice = 0; slice < SLICE && !isOver(); slice++) {
      const finding = makeFinding(sent++);
      let result = ctx.tell(recipient, finding);
      if (!result.delivered && whenFull === 'park') result = await ctx.tellWhenRoom(recipient, finding);
      if (result.delivered) accepted += 1;
    }
    await setImmediate();
  }
  return { sent, accepted };
});
