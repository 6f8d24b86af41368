import { z } from 'zod';
import { type ErrorData, errorToData } from '../../runtime/protocol/errors.ts';
import { SwarmFault, SwarmSession } from './swarm-session.ts';

const About = { swarmId: z.string().min(1) };
const OnSubTask = { ...About, subTaskId: z.string().min(1), epoch: z.int().positive().optional() };

/**
 * What an agent asks the coordinator of a swarm, as the payload of a request to the swarm's owner. It is meant for the
 * agent that sent it, unless the owner names another.
 *
 * - `swarm.read`     the shared state; for participants and the owner.
 * - `swarm.join`, `swarm.leave` in mid-work, too.
 * - `swarm.complete`, `swarm.fail`  of the agent's own assignment; without an epoch, its latest.
 */
export const SwarmRequest = z.discriminatedUnion('kind', [
  z.object({ ...About, kind: z.literal('swarm.read') }),
  z.object({ ...About, kind: z.literal('swarm.join') }),
  z.object({ ...About, kind: z.literal('swarm.leave'), reason: z.string().optional() }),
  z.object({ ...OnSubTask, kind: z.literal('swarm.complete'), result: z.unknown() }),
  z.object({ ...OnSubTask, kind: z.literal('swarm.fail'), error: z.string() }),
]);
export type SwarmRequest = z.infer<typeof SwarmRequest>;

/** The answer, as the payload of a response: the swarm as it is then to who reads or joins, that it is done to others. */
export const SwarmAnswer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('swarm.picture'), session: SwarmSession }),
  z.object({ kind: z.literal('swarm.done') }),
]);
export type SwarmAnswer = z.infer<typeof SwarmAnswer>;

/** Says whether a payload is meant for a coordinator. */
export function isSwarmPayload(payload: unknown): payload is { readonly kind: string } {
  const { kind } = (payload ?? {}) as { kind?: unknown };
  return typeof kind === 'string' && kind.startsWith('swarm.');
}

/** The fault that an `error` envelope carries; whoever names no code of ours REFUSED. */
export function faultIn(payload: unknown): ErrorData {
  const parsed = SwarmFault.loose().safeParse(payload);
  if (parsed.success) return parsed.data as ErrorData;
  const { message, error } = (payload ?? {}) as { message?: unknown; error?: unknown };
  const told = [message, error, payload].find((one) => typeof one === 'string');
  return { code: 'REFUSED', message: told ?? 'it gave no reason' };
}

/** A fault as an `error` envelope carries it. */
export function faultPayload(error: unknown): SwarmFault {
  const { code, message } = errorToData(error, 'REFUSED');
  return { code, message };
}
