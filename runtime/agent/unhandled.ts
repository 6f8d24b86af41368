import type { A2AMessageType } from '../protocol/envelope.ts';
import { refused } from '../protocol/errors.ts';
import type { AgentDefinition, EnvelopeHandler, HandlerEntry } from './agent-definition.ts';

/** A value is asked for, a stream is read: the other way the answer would go nowhere. */
export function refuseOtherKind(
  { kind, capability: { id } }: HandlerEntry,
  isRead: boolean,
  agentId: string,
): void {
  if (isRead === (kind === 'stream')) return;
  const how = kind === 'stream' ? 'a stream: read it with stream()' : 'one value: ask for it with ask()';
  throw refused(`${agentId} answers "${id}" with ${how}`, { capability: id, kind });
}

/** What handles envelopes of this type that name no capability the agent declares; throws REFUSED if nothing does. */
export function envelopeHandlerOf(
  { envelopeHandlers }: AgentDefinition<unknown>,
  agentId: string,
  messageType: A2AMessageType,
  capability: string | undefined,
): EnvelopeHandler<unknown> {
  if (capability !== undefined && envelopeHandlers.size === 0)
    throw refused(`${agentId} does not handle the capability "${capability}"`, { capability });
  const onEnvelope = envelopeHandlers.get(messageType);
  if (onEnvelope === undefined)
    throw refused(`${agentId} handles no ${messageType} without a capability`, { messageType });
  return onEnvelope as EnvelopeHandler<unknown>;
}
