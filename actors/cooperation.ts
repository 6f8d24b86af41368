import { HOST_ID, LOOP_ID } from '../runtime/protocol/policy.ts';
import type { Seams } from '../runtime/protocol/seams.ts';
import type { LoopSender, System } from '../runtime/public.ts';
import { hostNegotiator } from './negotiator/agent-negotiator.ts';
import type { TaskNegotiator } from './negotiator/task-negotiator.ts';
import { hostSwarms } from './swarm/agent-swarms.ts';
import type { Swarms } from './swarm/swarms.ts';

/** How others are had to work together, in somebody's name: by proposals and in swarms. */
export interface Cooperation {
  readonly negotiator: TaskNegotiator;
  readonly swarms: Swarms;
}

/** `negotiator` and `swarms` act as `system/host`, those of `loop` as `system/loop`. */
export interface Cooperating extends Cooperation {
  readonly loop: LoopSender & Cooperation;
}

/**
 * A system whose agents are there, and what its embedder and its loop have others do. `isKept`: in a system with a journal
 * what former processes have left goes on.
 */
export async function withCooperation<Of extends System>(
  system: Of,
  { seams, isKept }: { readonly seams: Seams; readonly isKept: boolean },
): Promise<Of & Cooperating> {
  const cooperationOf = async (
    sender: Pick<System, 'ask' | 'client'>,
    agentId: string,
  ): Promise<Cooperation> => {
    const client = isKept ? await sender.client() : undefined;
    const negotiator = hostNegotiator(sender, { agentId, seams, client });
    return { negotiator, swarms: hostSwarms(sender, { agentId, seams, negotiator, client }) };
  };
  const host = await cooperationOf(system, HOST_ID);
  const loop = { ...system.loop, ...(await cooperationOf(system.loop, LOOP_ID)) };
  return { ...system, ...host, loop };
}
