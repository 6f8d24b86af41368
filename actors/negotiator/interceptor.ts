import type { EnvelopeHandler } from '../../runtime/agent/agent-definition.ts';
import { systemStopped } from '../../runtime/protocol/errors.ts';
import type { Interceptor } from '../../runtime/public.ts';
import { CAPABILITY_NEGOTIATION } from './capability-negotiation.ts';
import { negotiatorAt, negotiatorIfAny } from './agent-negotiator.ts';
import { negotiatorOf } from './agent-negotiator.ts';

const consider: EnvelopeHandler<never> = (envelope, ctx) => negotiatorOf(ctx).consider(envelope);

/** Few peers ask: what they need is loaded when the first one does. */
const answerByCard: EnvelopeHandler<never> = async (envelope, ctx) => {
  const handlers = await import('./capability-handlers.ts');
  return handlers.answerByCard(envelope, ctx);
};

/**
 * Sees to the negotiations of all agents of a thread: what is said about a proposal is answered at once, also while the
 * agent is busy; a proposal waits for its turn, and is answered by card where the agent does not handle it. So is the
 * question which capabilities two peers have in common.
 */
export const negotiationInterceptor: Interceptor = {
  types: new Set(['task-accept', 'task-reject']),
  owed: new Set(['task-proposal']),
  handlers: new Map([
    ['task-proposal', consider],
    [CAPABILITY_NEGOTIATION, answerByCard],
  ]),
  arrived: (client, envelope) => {
    const received = negotiatorAt(client).receive(envelope);
    return received === 'handled' || (received === 'news' && !client.handles(envelope.type));
  },
  lost: (client, envelope, { code }) => negotiatorAt(client).lost(envelope, code),
  ended: (client) => negotiatorIfAny(client)?.end(),
  left: (client) => negotiatorIfAny(client)?.leave(systemStopped('the proposal goes on in its next process')),
  actorsOf: (client) => {
    const negotiator = negotiatorIfAny(client);
    return negotiator === undefined ? [] : [negotiator.actor];
  },
  resumed: (client) => {
    negotiatorAt(client);
  },
};
