import { mergeTaint, type Taint } from '../../runtime/protocol/taint.ts';
import type { AgentClient } from '../../runtime/public.ts';
import type { CRDTSyncChannel } from './crdt-sync-channel.ts';
import type { ClientMedium } from './client-medium.ts';
import type { UpdateLog } from './update-log.ts';
import type { SyncMessage } from './sync-message.ts';

/** The key under which a client holds its agent's documents. */
const HELD_AS = 'shared-documents';

/** A document that an agent has open, or is about to; `channel` rejects when it could not be opened. */
export interface AgentDocument {
  readonly medium: ClientMedium;
  readonly channel: Promise<CRDTSyncChannel>;
  /** Once it is open. */
  opened?: CRDTSyncChannel;
  /** Set while it is being closed because its actor has ended; resolves when that is done. */
  ending?: Promise<void>;
}

/**
 * The documents of one agent, by name, those of its logs that last as long as its thread, and what has come too early; and
 * where what is in them came from outside, as far as the agent has heard.
 */
export interface AgentDocuments {
  readonly early: EarlyMessages;
  readonly open: Map<string, AgentDocument>;
  readonly logs: Map<string, UpdateLog>;
  readonly taints: Map<string, Taint>;
}

/** The documents that a client's agent has had to do with, if any. */
export const documentsIfAny = (client: AgentClient): AgentDocuments | undefined =>
  client.held.get(HELD_AS) as AgentDocuments | undefined;

export function documentsAt(client: AgentClient): AgentDocuments {
  const known = documentsIfAny(client);
  if (known !== undefined) return known;
  const made: AgentDocuments = {
    early: new EarlyMessages(),
    open: new Map(),
    logs: new Map(),
    taints: new Map(),
  };
  client.held.set(HELD_AS, made);
  return made;
}

/** Notes that what was put into a document came from outside. */
export function taintDocument({ taints }: AgentDocuments, name: string, taint: Taint | undefined): void {
  const all = mergeTaint(taints.get(name), taint);
  if (all !== undefined) taints.set(name, all);
}

/** Closes the agent's documents when its actor has ended. The next actor opens them again. */
export function endDocuments(client: AgentClient): void {
  for (const document of documentsIfAny(client)?.open.values() ?? []) endDocument(document);
}

export function endDocument(document: AgentDocument): void {
  // Whoever opens it is told of what goes wrong with that.
  document.ending ??= document.channel.then((channel) => channel.close()).catch(() => {});
}

const MAX_MESSAGES = 64;
const MAX_BYTES = 4 << 20;

/**
 * Messages for documents that an agent has not opened yet, in the order in which they came. Above the bounds the oldest are
 * dropped: whoever opens a document asks for what is missing.
 */
export class EarlyMessages {
  #held: SyncMessage[] = [];
  #bytes = 0;

  /** Holds a message. An answer is not held, because whoever asked is gone. */
  hold(message: SyncMessage): void {
    if (message.kind === 'state') return;
    this.#held.push(message);
    this.#bytes += message.payload.length;
    while (this.#held.length > MAX_MESSAGES || this.#bytes > MAX_BYTES)
      this.#bytes -= this.#held.shift()?.payload.length ?? 0;
  }

  /** Takes out the messages of one document. */
  take(channelId: string): readonly SyncMessage[] {
    const taken = this.#held.filter((message) => message.channelId === channelId);
    this.#held = this.#held.filter((message) => message.channelId !== channelId);
    for (const { payload } of taken) this.#bytes -= payload.length;
    return taken;
  }
}
