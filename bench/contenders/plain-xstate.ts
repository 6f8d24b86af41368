import { createActor } from 'xstate';
import { makeFinding } from '../envelope.ts';
import type { Contender, Session } from '../measurement.ts';
import { pipelined } from '../pipelined.ts';
import { receiverMachine } from '../receiver.machine.ts';
import type { Handling, ReceiverEvent } from '../receiver-event.ts';
import { receiverTransition } from '../receiver-transition.ts';

/** Anything that takes the receiver's events; a bare XState actor in this thread. */
interface BareActor {
  send(event: ReceiverEvent): void;
  stop(): unknown;
}

const nothing: Handling = { reply: () => undefined, settle: () => undefined };

const startMachine = (): BareActor => createActor(receiverMachine).start();
const startTransition = (): BareActor => createActor(receiverTransition).start();

/** `actor.send` of a finding, with no envelope around it. */
const bareSend = (name: string, start: () => BareActor): Contender => ({
  name,
  packages: ['xstate'],
  open: async () => {
    let sent = 0;
    return sessionOf(start(), async (actor, count) => {
      for (let left = count; left > 0; left--) {
        actor.send({ type: 'notification', input: makeFinding(sent++), ctx: nothing });
      }
    });
  },
});

/** `actor.send` of a finding with a promise for the reply, `width` of them in flight. */
const bareAsk = (name: string, width: number, start: () => BareActor): Contender => ({
  name,
  packages: ['xstate'],
  open: async () => {
    let sent = 0;
    return sessionOf(start(), (actor, count) =>
      pipelined(count, width, () => {
        const input = makeFinding(sent++);
        return new Promise((resolve) => {
          actor.send({ type: 'bench.inspect', input, ctx: { reply: resolve, settle: nothing.settle } });
        });
      }),
    );
  },
});

function sessionOf(actor: BareActor, run: (actor: BareActor, count: number) => Promise<void>): Session {
  return {
    run: (count) => run(actor, count),
    close: async () => {
      actor.stop();
    },
  };
}

export const bareMachineSend = bareSend('bare machine', startMachine);
export const bareTransitionSend = bareSend('bare transition', startTransition);
export const bareMachineAsk = (width: number) => bareAsk('bare machine', width, startMachine);
export const bareTransitionAsk = (width: number) => bareAsk('bare transition', width, startTransition);
