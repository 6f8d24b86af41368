import { fromTransition } from 'xstate';
import { inspectFinding, type Tally } from './receiver.ts';
import type { ReceiverEvent } from './receiver-event.ts';

/** A receiver as a function of state and event; XState's own events, such as the one that stops it, change nothing. */
export const receiverTransition = fromTransition(
  (tally: Tally, event: ReceiverEvent): Tally => {
    const next = { ...tally };
    switch (event.type) {
      case 'notification':
        inspectFinding(next, event.input);
        event.ctx.settle();
        return next;
      case 'bench.inspect':
        event.ctx.reply(inspectFinding(next, event.input));
        return next;
      case 'bench.handled':
        event.ctx.reply({ handled: tally.handled });
        return tally;
      default:
        return tally;
    }
  },
  { handled: 0, lines: 0 },
);
