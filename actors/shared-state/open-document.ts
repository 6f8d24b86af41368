import type { KeyObject } from 'node:crypto';
import type * as Y from 'yjs';
import { invalidOptions, OrreryError, refused } from '../../runtime/protocol/errors.ts';
import { requireText } from '../../runtime/protocol/parse-options.ts';
import { isSystemId } from '../../runtime/protocol/policy.ts';
import type { AgentClient } from '../../runtime/public.ts';
import { CRDTSyncChannel, type SyncChannelDeps, type SyncChannelOptions } from './crdt-sync-channel.ts';
import {
  type AgentDocument,
  type AgentDocuments,
  documentsAt,
  documentsIfAny,
  endDocument,
  taintDocument,
} from './agent-documents.ts';
import { ClientMedium } from './client-medium.ts';
import { JournalledUpdateLog } from './journalled-update-log.ts';
import type { SyncEvent } from './sync-event.ts';
import { InMemoryUpdateLog, type UpdateLog } from './update-log.ts';

/**
 * - `name`          of the document, in one line; the same at all members.
 * - `membership`    who shares it; the agent is one of them.
 * - `privateKey`    signs what the agent sends. It is not kept: after a restart it has to be given again.
 * - `justification` why a lower tier writes to a higher one. @default that both are members
 * - `document`      what is shared. @default a new one
 * - `log`           where it is kept: `journal` outlives the process, and only a durable agent has it; `memory` outlives the
 *                   agent's actor, and ends with its thread; or one of the user's own. @default 'journal' for a durable agent
 */
export interface DocumentOptions
  extends Pick<SyncChannelDeps, 'membership' | 'observability' | 'onEvent'>,
    Pick<SyncChannelOptions, 'limits'> {
  readonly name: string;
  readonly privateKey: KeyObject;
  readonly justification?: string;
  readonly document?: Y.Doc;
  readonly log?: 'journal' | 'memory' | UpdateLog;
}

/**
 * Opens a document that an agent of a running system shares with others: at its client, `clientOf(ctx)`, as a rule in
 * `onStart`; or for the embedder at `await system.client()`. It is closed when the agent's actor ends, and opened anew by the
 * next one, which is judged as a member again. A durable agent has it back after a crash of the process.
 *
 * Fails as `CRDTSyncChannel.open` does; with SANDBOX_VIOLATION where a sandbox keeps it from another member, because members
 * that cannot write to each other never agree (who may share a document beside that is what its membership judges, when they
 * join: the rules for tiers do not hold between members); with INVALID_OPTIONS for a name of several lines and for
 * `log: 'journal'` without a journal, and with REFUSED when the agent has the document open already.
 */
export async function openDocument(client: AgentClient, options: DocumentOptions): Promise<CRDTSyncChannel> {
  const { name } = options;
  requireText('name', name);
  const documents = documentsAt(client);
  await documents.open.get(name)?.ending;
  if (documents.open.has(name)) throw refused(`${client.agentId} has the document "${name}" open already`);
  const justification = options.justification ?? `Both are members of the document "${name}"`;
  requireReach(client, options, justification);
  const log = logOf(client, documents, options);
  // Whoever has it back has what was put into it.
  const known = documents.taints.get(name);
  if (known !== undefined) client.absorbTaint(known);
  const medium: ClientMedium = new ClientMedium({
    client,
    members: () => options.membership.ids(),
    justification,
    // The agent's own changes have what is in the agent; the embedder hands on what others have changed.
    taint: () => {
      taintDocument(documents, name, client.taint);
      return isSystemId(client.agentId) ? documents.taints.get(name) : undefined;
    },
    onClosed: () => {
      if (documents.open.get(name) === document) documents.open.delete(name);
    },
    // An agent's is closed when its actor has ended: what is under way and its `onStop` may change it until then, while what
    // it sends by itself, as a heartbeat, is refused already. The embedder has no actor.
    onStopped: () => {
      if (isSystemId(client.agentId)) endDocument(document);
    },
  });
  const document: AgentDocument = { medium, channel: openChannel(client, options, { medium, log }) };
  documents.open.set(name, document);
  for (const message of documents.early.take(name)) medium.receive(message);
  try {
    document.opened = await document.channel;
    return document.opened;
  } catch (error) {
    await medium.close();
    throw error;
  }
}

/** The document of this name that the agent has open; undefined before `openDocument` has resolved. */
export function documentOf(client: AgentClient, name: string): CRDTSyncChannel | undefined {
  const documents = documentsIfAny(client);
  const opened = documents?.open.get(name)?.opened;
  // Whoever is shown it has what was put into it.
  const known = opened && documents?.taints.get(name);
  if (known !== undefined) client.absorbTaint(known);
  return opened;
}

/** Who is not there yet is judged when it opens the document itself. */
function requireReach(
  client: AgentClient,
  { name, membership }: DocumentOptions,
  justification: string,
): void {
  for (const recipient of membership.ids()) {
    if (recipient === client.agentId) continue;
    const verdict = client.judge({
      recipient,
      type: 'stream-data',
      payload: undefined,
      justification,
      isFrame: true,
    });
    if (verdict === undefined || verdict.code === 'AGENT_NOT_FOUND') continue;
    const { code, reason } = verdict;
    throw new OrreryError(code, `${client.agentId} cannot share the document "${name}": ${reason}`, {
      details: { agentId: client.agentId, recipient },
    });
  }
}

function openChannel(
  client: AgentClient,
  { name, privateKey, membership, document, limits, observability, onEvent }: DocumentOptions,
  { medium, log }: Pick<SyncChannelDeps, 'medium'> & { readonly log: UpdateLog },
): Promise<CRDTSyncChannel> {
  const { agentId, seams } = client;
  return CRDTSyncChannel.open(
    { seams, medium, membership, log, observability, onEvent: noting(client, name, onEvent) },
    {
      channelId: name,
      agentId,
      privateKey,
      ...(document === undefined ? {} : { document }),
      ...(limits === undefined ? {} : { limits }),
    },
  );
}

function logOf(
  { records }: AgentClient,
  { logs }: AgentDocuments,
  { name, log }: DocumentOptions,
): UpdateLog {
  if (typeof log === 'object') return log;
  if (log === 'journal' && records === undefined)
    throw invalidOptions('log', log, 'another, as the agent is not durable in a system with a journal');
  const kept = log === 'memory' ? undefined : records;
  const key = `${kept === undefined ? 'memory' : 'journal'}/${name}`;
  const known = logs.get(key);
  if (known !== undefined) return known;
  const made = kept === undefined ? new InMemoryUpdateLog() : new JournalledUpdateLog(kept, name);
  logs.set(key, made);
  return made;
}

/** What goes wrong in a document is an event of the system, too. */
function noting(
  client: AgentClient,
  name: string,
  onEvent: DocumentOptions['onEvent'],
): (event: SyncEvent) => void {
  return (event) => {
    const { type, sourceAgentId, reason, security } = event;
    const errorCode = type === 'log-failed' ? 'STORE_FAILED' : event.errorCode;
    if (errorCode !== undefined) {
      const marked = security === undefined ? {} : { security };
      const about = { agentId: client.agentId, sender: sourceAgentId, correlationId: name, ...marked };
      client.note({ type: 'error', ...about, errorCode, reason, success: false });
    }
    onEvent?.(event);
  };
}
