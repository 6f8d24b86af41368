import { mergeTaint, type Taint } from '../../runtime/protocol/taint.ts';
import type { AgentDesk } from '../../runtime/public.ts';
import type { CRDTSyncChannel } from './crdt-sync-channel.ts';
import type { DeskMedium } from './desk-medium.ts';
import { EarlyMessages } from './early-messages.ts';
import type { UpdateLog } from './update-log.ts';

/** Under which name a desk holds its agent's documents. */
const HELD_AS = 'shared-documents';

/** A document that an agent has open, or is about to; `channel` rejects when it could not be opened. */
export interface DeskDocument {
  readonly medium: DeskMedium;
  readonly channel: Promise<CRDTSyncChannel>;
  /** Once it is open. */
  opened?: CRDTSyncChannel;
  /** It is being closed, because its actor has ended: resolves when it is, or could not be opened. */
  ending?: Promise<void>;
}

/**
 * The documents of one agent, by name, those of its logs that last as long as its thread, and what has come too early; and
 * where what is in them came from outside, as far as the agent has heard.
 */
export interface DeskDocuments {
  readonly early: EarlyMessages;
  readonly open: Map<string, DeskDocument>;
  readonly logs: Map<string, UpdateLog>;
  readonly taints: Map<string, Taint>;
}

/** The documents that a desk's agent has had to do with, if any. */
export const documentsIfAny = (desk: AgentDesk): DeskDocuments | undefined =>
  desk.held.get(HELD_AS) as DeskDocuments | undefined;

export function documentsAt(desk: AgentDesk): DeskDocuments {
  const known = documentsIfAny(desk);
  if (known !== undefined) return known;
  const made: DeskDocuments = {
    early: new EarlyMessages(),
    open: new Map(),
    logs: new Map(),
    taints: new Map(),
  };
  desk.held.set(HELD_AS, made);
  return made;
}

/** What has been put into a document came from outside. */
export function taintDocument({ taints }: DeskDocuments, name: string, taint: Taint | undefined): void {
  const all = mergeTaint(taints.get(name), taint);
  if (all !== undefined) taints.set(name, all);
}

/** An actor of the agent has ended: its documents are closed, and the next one opens them again. */
export function endDocuments(desk: AgentDesk): void {
  for (const document of documentsIfAny(desk)?.open.values() ?? []) endDocument(document);
}

export function endDocument(document: DeskDocument): void {
  // Whoever opens it is told of what goes wrong with that.
  document.ending ??= document.channel.then((channel) => channel.close()).catch(() => {});
}
