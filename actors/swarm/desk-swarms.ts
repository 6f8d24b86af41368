import type { Seams } from '../../runtime/protocol/seams.ts';
import { type ActorContext, type AgentClient, clientOf, type System, workOf } from '../../runtime/public.ts';
import { negotiatorAt } from '../negotiator/desk-negotiator.ts';
import { negotiatorOf } from '../negotiator/handlers.ts';
import { type Asker, AskingHands } from './asking-hands.ts';
import { CoordinatorCore } from './coordinator-core.ts';
import { deskMedium, hostMedium } from './desk-medium.ts';
import { DeskHands } from './desk-hands.ts';
import { JournalledSwarmStore } from './swarm-store.ts';
import type { Negotiator } from './recruiter.ts';
import { SwarmCoordinator } from './swarm-coordinator.ts';
import type { Hands } from './swarm-reach.ts';
import type { SwarmWork } from './swarm-record.ts';
import type { SwarmStore } from './swarm-store.ts';
import type { Swarms } from './swarms.ts';

/** Under which name a desk holds its agent's coordinator. */
const HELD_AS = 'swarm-coordinator';

/** The coordinator that a desk's agent has had to do with, if any. */
export const coordinatorIfAny = (desk: AgentClient): CoordinatorCore | undefined =>
  desk.held.get(HELD_AS) as CoordinatorCore | undefined;

/** The coordinator of a desk's agent, made when it is first needed. It outlives the agent's actors. */
export function coordinatorAt(desk: AgentClient): CoordinatorCore {
  const known = coordinatorIfAny(desk);
  if (known !== undefined) return known;
  const store = storeAt(desk);
  const made = new CoordinatorCore({
    medium: deskMedium(desk),
    negotiator: negotiatorAt(desk),
    ...(store === undefined ? {} : { store }),
  });
  desk.held.set(HELD_AS, made);
  return made;
}

/** Where a durable agent's swarms are kept; undefined for one whose swarms end with its thread. */
function storeAt(desk: AgentClient): SwarmStore | undefined {
  const { records, agentId } = desk;
  if (records === undefined) return undefined;
  return new JournalledSwarmStore({
    records,
    onProblem: (swarmId, why) => {
      const reason = `The swarm ${swarmId} of ${agentId} was left and cannot be read: ${why}`;
      desk.note({ type: 'error', agentId, errorCode: 'STORE_INVALID', reason, success: false });
    },
  });
}

/** Goes on with what a former thread or process has left of the swarms of a desk's agent. */
export function resumeAt(desk: AgentClient): void {
  void new SwarmCoordinator(coordinatorAt(desk), { hands: handsAt(desk) }).resume();
}

/**
 * The swarms of the agent whose context this is. A swarm made here belongs to the work in hand: to its conversation, its
 * deadline, its budget and its path; and it is cancelled when that ends, so a handler awaits the outcome. If the agent is
 * durable and tried again after the death of its thread or process, the next attempt that makes the same swarm gets the one
 * that is there.
 */
export function swarmsOf<State>(ctx: ActorContext<State>): Swarms {
  const context = ctx as ActorContext<never>;
  const desk = clientOf(context);
  return new SwarmCoordinator(coordinatorAt(desk), {
    hands: handsAt(desk, context),
    negotiator: negotiatorOf(context),
    behalf: () => desk.behalfOf(context as ActorContext<unknown>),
    takeIn: (taint) => desk.takeIn(taint, context as ActorContext<unknown>),
    inherited: () => ({
      signal: context.signal,
      correlationId: workOf(context).correlationId,
      work: desk.records === undefined ? undefined : nextWork(context),
    }),
  });
}

/** How the swarms of a desk's agent hand over what they assign; in the context of what it is handling, if there is one. */
function handsAt(desk: AgentClient, context?: ActorContext<never>): Hands {
  return new DeskHands({
    desk,
    isLasting: desk.records !== undefined,
    ask: (asking) => desk.ask(asking, context as ActorContext<unknown> | undefined),
    ...(context !== undefined && { isOver: () => workOf(context).isOver }),
  });
}

/** How many swarms were made in each piece of work. */
const made = new WeakMap<ActorContext<never>, number>();

/** The next swarm that is made in this piece of work. */
function nextWork(context: ActorContext<never>): SwarmWork {
  const nth = (made.get(context) ?? 0) + 1;
  made.set(context, nth);
  const { envelopeId, deadlineAtMs, isTriedAgain } = workOf(context);
  return {
    nth,
    isTriedAgain,
    ...(envelopeId === undefined ? {} : { envelopeId }),
    ...(deadlineAtMs === undefined ? {} : { deadlineAtMs }),
  };
}

export interface HostSwarmsOptions {
  readonly agentId: string;
  readonly seams: Seams;
  readonly negotiator: Negotiator;
  /** Its client, if that is open already: that of a system with a journal is. */
  readonly client?: AgentClient | undefined;
}

/** The swarms of the embedder or of its loop, made as `agentId`. With a journal they go on with those of former processes. */
export function hostSwarms(
  system: Pick<System, 'ask' | 'client'>,
  { agentId, seams, negotiator, client }: HostSwarmsOptions,
): Swarms {
  if (client !== undefined) {
    const swarms = new SwarmCoordinator(coordinatorAt(client), { hands: handsAt(client), negotiator });
    void swarms.resume();
    return swarms;
  }
  const open = async (): Promise<AgentClient> => {
    const opened = await system.client();
    opened.held.set(HELD_AS, core);
    return opened;
  };
  const asker: Asker = { ask: (...asked) => system.ask(...asked) };
  const core = new CoordinatorCore({ medium: hostMedium(open, { agentId, seams }), negotiator });
  return new SwarmCoordinator(core, { hands: new AskingHands(asker, seams.clock), negotiator });
}
