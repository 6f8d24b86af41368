import { isSystemId } from '../../runtime/protocol/policy.ts';
import type { Interceptor } from '../../runtime/public.ts';
import { coordinatorAt, coordinatorIfAny, resumeAt } from './desk-swarms.ts';
import { isSwarmPayload } from './swarm-requests.ts';

/**
 * Sees to the swarms of all agents of a thread: what participants ask of a coordinator is answered at once, also while its
 * agent is busy, which as a rule it is: it waits for the outcome.
 */
export const swarmInterceptor: Interceptor = {
  types: new Set(['request', 'response', 'error']),
  owed: new Set(),
  handlers: new Map(),
  arrived: (client, envelope) => {
    const isAsked = envelope.type === 'request' && isSwarmPayload(envelope.payload);
    const coordinator = isAsked ? coordinatorAt(client) : coordinatorIfAny(client);
    return coordinator?.receive(envelope) === true;
  },
  lost: () => undefined,
  ended: () => undefined,
  left: (client) => coordinatorIfAny(client)?.owned.suspend(),
  resumed: (client) => {
    // The embedder's swarms go on when its team is there.
    if (!isSystemId(client.agentId)) resumeAt(client);
  },
};
