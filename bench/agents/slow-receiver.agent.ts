import { defineAgent } from 'orrery';
import { parametersOf } from './agent-parameters.ts';

const { id, tier } = parametersOf(import.meta.url);
const HANDLING_MS = 1;

export const slowReceiver = defineAgent({
  id,
  name: id,
  version: '1.0.0',
  description: 'Handles at most a thousand findings a second',
  tier,
}).on('notification', (_envelope, ctx) => ctx.sleep(HANDLING_MS));
