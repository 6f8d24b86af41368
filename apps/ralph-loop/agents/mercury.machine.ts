import type { HandlingContext } from 'orrery';
import { type AnyEventObject, assign, fromCallback, fromPromise, setup } from 'xstate';
import type { Verification } from '../findings/verification.ts';
import type { VerifyRequest } from './capabilities.ts';

/** What MERCURY has in hand. */
export interface Judging {
  readonly request: VerifyRequest;
  readonly ctx: HandlingContext;
}

interface MercuryContext {
  readonly judging: Judging | undefined;
}

const NOTHING_TO_JUDGE: Verification = { verdict: 'APPROVED', approved: [], rejected: [], feedback: '' };

const takenFrom = (event: AnyEventObject): Judging => ({ request: event['input'], ctx: event['ctx'] });

/** Used only in states that are entered with something in hand. */
const inHand = ({ context }: { context: MercuryContext }): Judging => context.judging as Judging;

/**
 * MERCURY's work: it waits for findings, judges them, and answers; no findings it approves at once. When the task is
 * cancelled it goes no further. One list of findings at a time. `verify` is to be provided.
 */
export const mercuryMachine = setup({
  types: { context: {} as MercuryContext, events: {} as AnyEventObject },
  actors: {
    verify: fromPromise<Verification, Judging>(() => {
      throw new Error('verify is not provided');
    }),
    watchForCutOff: fromCallback<AnyEventObject, Judging>(({ input: { ctx }, sendBack }) => {
      const tell = (): void => sendBack({ type: 'work.cut-off' });
      ctx.signal.addEventListener('abort', tell, { once: true });
      if (ctx.signal.aborted) tell();
      return () => ctx.signal.removeEventListener('abort', tell);
    }),
  },
  guards: { hasNothing: ({ event }) => takenFrom(event).request.findings.length === 0 },
  actions: {
    approveNothing: ({ event }) => takenFrom(event).ctx.reply(NOTHING_TO_JUDGE),
    take: assign(({ event }) => ({ judging: takenFrom(event) })),
    answer: ({ context, event }) => inHand({ context }).ctx.reply(event['output']),
    refuse: ({ context, event }) => inHand({ context }).ctx.fail(event['error']),
    settle: ({ context }) => inHand({ context }).ctx.settle(),
    forget: assign({ judging: undefined }),
  },
}).createMachine({
  id: 'mercury',
  context: { judging: undefined },
  initial: 'waiting',
  states: {
    waiting: {
      tags: 'ready',
      entry: 'forget',
      on: {
        'findings.verify': [
          { guard: 'hasNothing', actions: 'approveNothing' },
          { target: 'judging', actions: 'take' },
        ],
      },
    },
    judging: {
      invoke: [
        { src: 'watchForCutOff', input: inHand },
        {
          src: 'verify',
          input: inHand,
          onDone: { target: 'waiting', actions: 'answer' },
          onError: { target: 'waiting', actions: 'refuse' },
        },
      ],
      on: { 'work.cut-off': { target: 'waiting', actions: 'settle' } },
    },
  },
});
