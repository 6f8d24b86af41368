import type { HandlingContext } from 'orrery';
import { type AnyEventObject, assign, fromCallback, fromPromise, setup } from 'xstate';
import type { Verification } from '../findings/verification.ts';
import type { VerifyRequest } from './capabilities.ts';

/** The request in hand. */
export interface Judging {
  readonly request: VerifyRequest;
  readonly ctx: HandlingContext;
}

interface MercuryContext {
  readonly judging: Judging | undefined;
  readonly verdict: Verification | undefined;
}

const IDLE: MercuryContext = { judging: undefined, verdict: undefined };

const NOTHING_TO_JUDGE: Verification = { verdict: 'APPROVED', approved: [], rejected: [], feedback: '' };

const takenFrom = (event: AnyEventObject): Judging => ({ request: event['input'], ctx: event['ctx'] });

/** The request in hand. Used only in states that have one. */
const inHand = ({ context }: { context: MercuryContext }): Judging => context.judging as Judging;

/**
 * The machine of MERCURY, for one list of findings at a time. It judges findings and answers; an empty list is approved at
 * once. A cancelled request is cut off. `verify` must be provided.
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
    take: assign(({ event }) => ({ judging: takenFrom(event) })),
    approveNothing: assign({ verdict: NOTHING_TO_JUDGE }),
    keepVerdict: assign(({ event }) => ({ verdict: event['output'] as Verification })),
    answer: ({ context }) => inHand({ context }).ctx.reply(context.verdict),
    refuse: ({ context, event }) => inHand({ context }).ctx.fail(event['error']),
    settle: ({ context }) => inHand({ context }).ctx.settle(),
    forget: assign(IDLE),
  },
}).createMachine({
  id: 'mercury',
  context: IDLE,
  initial: 'waiting',
  states: {
    waiting: {
      tags: 'ready',
      entry: 'forget',
      on: {
        'findings.verify': [
          { guard: 'hasNothing', target: 'answering', actions: ['take', 'approveNothing'] },
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
          onDone: { target: 'answering', actions: 'keepVerdict' },
          onError: 'refusing',
        },
      ],
      on: { 'work.cut-off': 'cutOff' },
    },
    answering: { entry: 'answer', always: 'waiting' },
    refusing: { entry: 'refuse', always: 'waiting' },
    cutOff: { entry: 'settle', always: 'waiting' },
  },
});
