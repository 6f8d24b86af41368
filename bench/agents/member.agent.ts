import { defineAgent } from 'orrery';
import { inspect } from '../capabilities.ts';
import { inspectFinding } from '../receiver.ts';

/** One of those that take tasks on: does the same small work as every receiver. */
export const member = defineAgent({
  id: 'member',
  name: 'Member',
  version: '1.0.0',
  description: 'Takes on what is proposed to it',
  tier: 3,
})
  .onStart(() => ({ handled: 0, lines: 0 }))
  .handle(inspect, (finding, { state }) => inspectFinding(state, finding));
