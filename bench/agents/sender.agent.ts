import { setImmediate as nextTurn } from 'node:timers/promises';
import { defineAgent, type HandlingContext } from 'orrery';
import { askBurst, handled, inspect, tellBurst } from '../capabilities.ts';
import { makeFinding } from '../envelope.ts';
import { pipelined } from '../pipelined.ts';
import { addresseesOf, receiversOf, SENDERS } from '../team.ts';
import { parametersOf } from './agent-parameters.ts';

const { tier, layout } = parametersOf(import.meta.url);
const addresseeOf = addresseesOf(layout);

/** Which sender this is, and how many messages it has made. */
interface Turns {
  readonly index: number;
  next: number;
}

type Context = HandlingContext<Turns>;

/** So many tells go without a turn of the event loop: a thread that takes none for long counts as lost. */
const TELLS_A_TURN = 4_096;

/** Tells without waiting until a mailbox is full, then waits for room. */
async function tellFindings(count: number, ctx: Context): Promise<void> {
  const turns = ctx.state;
  for (const end = turns.next + count; turns.next < end; turns.next++) {
    if (turns.next % TELLS_A_TURN === 0) await nextTurn();
    const { recipient, ...options } = addresseeOf(turns.index, turns.next);
    const finding = makeFinding(turns.next);
    let result = ctx.tell(recipient, finding, options);
    if (result.errorCode === 'MAILBOX_FULL') result = await ctx.tellWhenRoom(recipient, finding, options);
    if (!result.delivered)
      throw new Error(`${ctx.self} to ${recipient}: ${result.errorCode} ${result.error}`);
  }
}

/** Asks everybody this sender may have told; mail keeps its order, so the answers come after the last finding. */
async function awaitHandled(ctx: Context): Promise<void> {
  const addressees = new Map(
    receiversOf(layout).map((_, offset) => {
      const { recipient, ...options } = addresseeOf(ctx.state.index, offset);
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
  id: `sender-of-tier-${tier}`,
  name: 'Sender',
  version: '1.0.0',
  description: 'Tells and asks as fast as it may',
  tier,
})
  .onStart(({ self }): Turns => ({ index: SENDERS.findIndex(({ id }) => id === self), next: 0 }))
  .handle(tellBurst, async ({ count }, ctx) => {
    await tellFindings(count, ctx);
    await awaitHandled(ctx);
    return { done: count };
  })
  .handle(askBurst, async ({ count, width }, ctx) => {
    const turns = ctx.state;
    await pipelined(count, width, () => {
      const { recipient, ...options } = addresseeOf(turns.index, turns.next);
      return ctx.ask({ agent: recipient, capability: inspect }, makeFinding(turns.next++), options);
    });
    return { done: count };
  });
