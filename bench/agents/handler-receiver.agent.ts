import { defineAgent } from 'orrery';
import { handled, inspect } from '../capabilities.ts';
import type { Finding } from '../envelope.ts';
import { inspectFinding, type Tally } from '../receiver.ts';
import { parametersOf } from './agent-parameters.ts';

const { tier } = parametersOf(import.meta.url);

export const receiver = defineAgent({
  id: 'handler-receiver',
  name: 'Receiver',
  version: '1.0.0',
  description: 'Handles findings with asynchronous functions',
  tier,
})
  .onStart((): Tally => ({ handled: 0, lines: 0 }))
  .on('notification', async (envelope, ctx) => {
    inspectFinding(ctx.state, envelope.payload as Finding);
  })
  .handle(inspect, async (finding, ctx) => inspectFinding(ctx.state, finding))
  .handle(handled, async (_, ctx) => ({ handled: ctx.state.handled }));
