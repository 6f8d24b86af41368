import { defineAgent } from 'orrery';

const HANDLING_MS = 1;

export const slowReceiver = defineAgent({
  id: 'slow-receiver',
  name: 'Slow receiver',
  version: '1.0.0',
  description: 'Handles at most a thousand findings a second',
  tier: 2,
}).on('notification', (_envelope, ctx) => ctx.sleep(HANDLING_MS));
