import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import type { AgentClient, Interceptor } from '../../runtime/public.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import { documentsAt, documentsIfAny, endDocuments, taintDocument } from './agent-documents.ts';
import { SYNC_SCHEMA, syncMessageOf } from './sync-envelope.ts';
import type { SyncMessage } from './sync-message.ts';

/**
 * Receives changes of shared documents for all agents of a thread. A change is applied as it comes, also while the agent is
 * busy. One that comes before the agent has opened its document waits.
 *
 * An agent that handles `stream-data` itself gets the messages of documents that it has not opened.
 */
export const documentInterceptor: Interceptor = {
  types: new Set(['stream-data']),
  owed: new Set(),
  handlers: new Map(),
  arrived: (client, envelope) => {
    const message = messageIn(envelope);
    return message !== undefined && take(client, message, envelope.metadata?.taint);
  },
  lost: () => undefined,
  ended: endDocuments,
  left: endDocuments,
};

/** The sync message in an envelope. Anything else, or a broken message, is left to the agent, which refuses it. */
function messageIn(envelope: A2AEnvelope): SyncMessage | undefined {
  if (envelope.schema !== SYNC_SCHEMA) return undefined;
  try {
    return syncMessageOf(envelope);
  } catch {
    return undefined;
  }
}

function take(client: AgentClient, message: SyncMessage, taint: Taint | undefined): boolean {
  const { channelId } = message;
  const document = documentsIfAny(client)?.open.get(channelId);
  if (document === undefined && client.handles('stream-data')) return false;
  if (taint !== undefined) {
    // Before it is applied: whoever observes the document is told in the course of that, and the log has it then.
    client.absorbTaint(taint);
    taintDocument(documentsAt(client), channelId, taint);
  }
  if (document === undefined) documentsAt(client).early.hold(message);
  else document.medium.receive(message);
  return true;
}
