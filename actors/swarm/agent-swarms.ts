import { isSystemId } from '../../runtime/protocol/policy.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import {
  type ActorContext,
  type AgentClient,
  clientOf,
  type Interceptor,
  type System,
} from '../../runtime/public.ts';
import type { AgentPort } from '../agent-port/agent-port.ts';
import { clientPort, embedderPort, portOf } from '../agent-port/client-port.ts';
import { negotiatorAt, negotiatorOf } from '../negotiator/agent-negotiator.ts';
import { SwarmCoordinator, type SwarmCoordinatorOptions } from './swarm-coordinator.ts';
import type { Negotiator } from './swarm-reach.ts';
import { isSwarmPayload } from './swarm-requests.ts';
import { JournalledSwarmStore } from './swarm-store.ts';
import type { Swarms } from './swarms.ts';

/** Under which name a client holds its agent's coordinator. */
const HELD_AS = 'swarm-coordinator';

/** The coordinator that a client's agent has had to do with, if any. */
export const coordinatorIfAny = (client: AgentClient): SwarmCoordinator | undefined =>
  client.held.get(HELD_AS) as SwarmCoordinator | undefined;

/** The coordinator of an agent, made when it is first needed. It outlives the agent's actors. */
function coordinatorAt(client: AgentClient): SwarmCoordinator {
  const known = coordinatorIfAny(client);
  if (known !== undefined) return known;
  const port = clientPort(client);
  const made = new SwarmCoordinator({ port, negotiator: negotiatorAt(client), ...storeOf(port) });
  client.held.set(HELD_AS, made);
  return made;
}

/** Where a durable agent's swarms are kept; those of another one end with its thread. */
function storeOf(port: AgentPort): Pick<SwarmCoordinatorOptions, 'store'> {
  const { records, agentId } = port;
  if (records === undefined) return {};
  const onProblem = (swarmId: string, why: string): void => {
    const reason = `The swarm ${swarmId} of ${agentId} was left and cannot be read: ${why}`;
    port.note({ type: 'error', agentId, errorCode: 'STORE_INVALID', reason, success: false });
  };
  return { store: new JournalledSwarmStore({ records, onProblem }) };
}

/**
 * The swarms of the agent whose context this is. A swarm made here belongs to the work in hand: to its conversation, its
 * deadline, its budget and its path; and it is cancelled when that ends, so a handler awaits the outcome. If the agent is
 * durable and tried again after the death of its thread or process, the next attempt that makes the same swarm gets the one
 * that is there.
 */
export function swarmsOf<State>(ctx: ActorContext<State>): Swarms {
  return coordinatorAt(clientOf(ctx as ActorContext<never>)).within({
    port: portOf(ctx),
    negotiator: negotiatorOf(ctx),
    nth: () => nextIn(ctx),
  });
}

/** How many swarms were made in each piece of work. */
const made = new WeakMap<object, number>();

function nextIn(context: object): number {
  const nth = (made.get(context) ?? 0) + 1;
  made.set(context, nth);
  return nth;
}

/**
 * - `client` of the embedder or its loop, where that is open already: in a system with a journal it is.
 */
export interface HostSwarmsOptions {
  readonly agentId: string;
  readonly seams: Seams;
  readonly negotiator: Negotiator;
  readonly client?: AgentClient | undefined;
}

/** The swarms of the embedder or of its loop, made as `agentId`. With a journal they go on with those of former processes. */
export function hostSwarms(
  system: Pick<System, 'client'>,
  { agentId, seams, negotiator, client }: HostSwarmsOptions,
): Swarms {
  if (client !== undefined) {
    const coordinator = coordinatorAt(client);
    void coordinator.resume();
    return coordinator;
  }
  const open = async (): Promise<AgentClient> => {
    const opened = await system.client();
    opened.held.set(HELD_AS, coordinator);
    return opened;
  };
  const port = embedderPort({ agentId, seams, open });
  const coordinator = new SwarmCoordinator({ port, negotiator });
  return coordinator;
}

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
  actorsOf: (client) => {
    const coordinator = coordinatorIfAny(client);
    return coordinator === undefined ? [] : [coordinator.actor];
  },
  lost: () => undefined,
  ended: () => undefined,
  left: (client) => coordinatorIfAny(client)?.suspend(),
  resumed: (client) => {
    // The embedder's swarms go on when its team is there.
    if (!isSystemId(client.agentId)) void coordinatorAt(client).resume();
  },
};
