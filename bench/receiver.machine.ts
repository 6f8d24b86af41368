import { assign, setup } from 'xstate';
import type { Tally } from './receiver.ts';
import type { ReceiverEvent } from './receiver-event.ts';

/**
 * A receiver worth drawing: a severe finding alarms it, the next harmless one calms it down. Every finding is a guarded
 * transition that updates the context; two in three change the state.
 */
export const receiverMachine = setup({
  types: {} as { context: Tally; events: ReceiverEvent; tags: 'ready' },
  guards: {
    isSevere: ({ event }) => event.type !== 'bench.handled' && event.input.severity === 'high',
  },
  actions: {
    addFinding: assign(({ context: { handled, lines }, event }) => {
      return event.type === 'bench.handled' ? {} : { handled: handled + 1, lines: lines + event.input.line };
    }),
    replyVerdict: ({ event }) => {
      if (event.type === 'bench.inspect') event.ctx.reply({ accepted: true, line: event.input.line });
    },
    replyHandled: ({ context, event }) => event.ctx.reply({ handled: context.handled }),
  },
}).createMachine({
  id: 'receiver',
  initial: 'calm',
  context: { handled: 0, lines: 0 },
  on: {
    notification: [
      { guard: 'isSevere', target: '.alarmed', actions: 'addFinding' },
      { target: '.calm', actions: 'addFinding' },
    ],
    'bench.inspect': [
      { guard: 'isSevere', target: '.alarmed', actions: ['addFinding', 'replyVerdict'] },
      { target: '.calm', actions: ['addFinding', 'replyVerdict'] },
    ],
    'bench.handled': { actions: 'replyHandled' },
  },
  states: { calm: { tags: ['ready'] }, alarmed: { tags: ['ready'] } },
});
