import type { Budget } from './budget.ts';
import { type A2AEnvelope, asksForWork, type PathHop } from './envelope.ts';
import type { Requester } from './requester.ts';
import type { Taint } from './taint.ts';
import { proposedIn } from './task-proposal.ts';

/** What an envelope inherits from the one that its sender was handling. */
export interface Inherited {
  readonly correlationId: string;
  readonly deadlineAtMs: number | undefined;
  readonly path: readonly PathHop[] | undefined;
  readonly budget: Budget | undefined;
  readonly taint: Taint | undefined;
  readonly requester: Requester | undefined;
}

/**
 * What `handler` passes on while it handles `cause`: conversation, deadline, budget, taint, requester and delegation path. If `cause`
 * asks for work, it is the last hop of that path.
 */
export function inheritFrom(cause: A2AEnvelope, handler: string): Inherited {
  const { path, ...inherited } = inheritForReply(cause);
  if (!asksForWork(cause.type)) return { ...inherited, path };
  const hops = hopsOf({ ...cause, agent: handler, capability: capabilityOf(cause) ?? '' });
  return { ...inherited, path: [...(path ?? []), ...hops] };
}

/** The hops of an envelope on the path of what it causes: one, or for a proposal one for each capability in it. */
export function hopsOf({
  id: envelopeId,
  type,
  payload,
  agent,
  capability,
}: Pick<A2AEnvelope, 'id' | 'type' | 'payload'> & {
  readonly agent: string;
  readonly capability: string;
}): readonly PathHop[] {
  const proposed = proposedIn(type, payload);
  if (proposed.length === 0) return [{ agent, capability, envelopeId }];
  return proposed.map((one) => ({ agent, capability: one, envelopeId }));
}

/** What a reply to `cause` inherits. It has no path: the work that it ends is not above what the asker does next. */
export const inheritForReply = ({ id, correlationId, metadata }: A2AEnvelope): Inherited => ({
  correlationId: correlationId ?? id,
  deadlineAtMs: metadata?.deadlineAtMs,
  path: metadata?.path,
  budget: metadata?.budget,
  taint: metadata?.taint,
  requester: metadata?.requester,
});

/** The capability that an envelope names, as its recipient or in its metadata. */
export const capabilityOf = ({
  recipient,
  metadata,
}: Pick<A2AEnvelope, 'recipient' | 'metadata'>): string | undefined =>
  metadata?.routingHint === 'capability' ? recipient : metadata?.capability;

/** The earlier of two deadlines; undefined without any. */
export const earlier = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : other === undefined ? one : Math.min(one, other);
