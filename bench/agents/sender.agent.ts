import { defineAgent, type HandlingContext } from 'orrery';
import { askBurst, handled, inspect, tellBurst } from '../capabilities.ts';
import { makeFinding } from '../envelope.ts';
import { pipelined } from '../pipelined.ts';
import { addresseesOf, receiversOf } from '../team.ts';
import { parametersOf } from './agent-parameters.ts';

const { id, tier, senderIndex, layout } = parametersOf(import.meta.url);
const addresseeOf = addresseesOf(layout);
let turn = 0;

/** Tells without waiting until a mailbox is full, then waits for room. */
async function tellFindings(count: number, ctx: HandlingContext): Promise<void> {
  for (const end = turn + count; turn < end; turn++) {
    const { recipient, ...options } = addresseeOf(senderIndex, turn);
    const finding = makeFinding(turn);
    let result = ctx.tell(recipient, finding, options);
    if (result.errorCode === 'MAILBOX_FULL') result = await ctx.tellWhenRoom(recipient, finding, options);
    if (!result.delivered) throw new Error(`${id} to ${recipient}: ${result.errorCode} ${result.error}`);
  }
}

/** Asks everybody this sender may have told; mail keeps its order, so the answers come after the last finding. */
async function awaitHandled(ctx: HandlingContext): Promise<void> {
  const receivers = receiversOf(layout).length;
  const addressees = new Map(
    Array.from({ length: receivers }, (_, offset) => {
      const { recipient, ...options } = addresseeOf(senderIndex, offset);
      return [recipient, options] as const;
    }),
  );
  await Promise.all(
    [...addressees].map(([agent, options]) =>
      ctx.ask({ agent, capability: handled }, {}, { ...options, whenFull: 'park' }),
    ),
  );
}

export const sender = defineAgent({
  id,
  name: id,
  version: '1.0.0',
  description: 'Tells and asks as fast as it may',
  tier,
})
  .handle(tellBurst, async ({ count }, ctx) => {
    await tellFindings(count, ctx);
    await awaitHandled(ctx);
    return { told: count };
  })
  .handle(askBurst, async ({ count, width }, ctx) => {
    await pipelined(count, width, () => {
      const { recipient, ...options } = addresseeOf(senderIndex, turn);
      return ctx.ask({ agent: recipient, capability: inspect }, makeFinding(turn++), options);
    });
    return { asked: count };
  });
