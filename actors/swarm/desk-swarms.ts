import type { Seams } from '../../runtime/protocol/seams.ts';
import { type ActorContext, type AgentDesk, deskOf, type System, workOf } from '../../runtime/public.ts';
import { negotiatorAt } from '../negotiator/desk-negotiator.ts';
import { negotiatorOf } from '../negotiator/handlers.ts';
import { CoordinatorCore } from './coordinator-core.ts';
import { deskMedium, hostMedium } from './desk-medium.ts';
import type { Negotiator } from './recruiter.ts';
import { SwarmCoordinator } from './swarm-coordinator.ts';
import type { Swarms } from './swarms.ts';

/** Under which name a desk holds its agent's coordinator. */
const HELD_AS = 'swarm-coordinator';

/** The coordinator that a desk's agent has had to do with, if any. */
export const coordinatorIfAny = (desk: AgentDesk): CoordinatorCore | undefined =>
  desk.held.get(HELD_AS) as CoordinatorCore | undefined;

/** The coordinator of a desk's agent, made when it is first needed. It outlives the agent's actors. */
export function coordinatorAt(desk: AgentDesk): CoordinatorCore {
  const known = coordinatorIfAny(desk);
  if (known !== undefined) return known;
  const made = new CoordinatorCore({ medium: deskMedium(desk), negotiator: negotiatorAt(desk) });
  desk.held.set(HELD_AS, made);
  return made;
}

/**
 * The swarms of the agent whose context this is. A swarm made here belongs to the work in hand: to its conversation, its
 * deadline, its budget and its path; and it is cancelled when that ends, so a handler awaits the outcome.
 */
export function swarmsOf<State>(ctx: ActorContext<State>): Swarms {
  const context = ctx as ActorContext<never>;
  return new SwarmCoordinator(coordinatorAt(deskOf(context)), {
    asker: { ask: (...asked) => context.ask(...asked), isOver: () => workOf(context).isOver },
    negotiator: negotiatorOf(context),
    inherited: () => ({ signal: context.signal, correlationId: workOf(context).correlationId }),
  });
}

/** The embedder's swarms, made as `system/host`. */
export function hostSwarms(
  system: Pick<System, 'ask' | 'desk'>,
  { agentId, seams, negotiator }: { agentId: string; seams: Seams; negotiator: Negotiator },
): Swarms {
  const open = async (): Promise<AgentDesk> => {
    const desk = await system.desk();
    desk.held.set(HELD_AS, core);
    return desk;
  };
  const core = new CoordinatorCore({ medium: hostMedium(open, { agentId, seams }), negotiator });
  return new SwarmCoordinator(core, { asker: { ask: (...asked) => system.ask(...asked) } });
}
