import * as Y from 'yjs';
import type { KeyObject } from 'node:crypto';
import type { z } from 'zod';
import type { CRDTSyncMessage } from '../../runtime/protocol/crdt-sync-message.ts';
import { refused, reasonOf } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';
import { LoggedDocument } from './logged-document.ts';
import { MessageGate } from './message-gate.ts';
import { Presence } from './presence.ts';
import { crdtDeserializationFailed, notPassedOn, syncChannelClosed, updateTooLarge } from './sync-errors.ts';
import { type SyncRefusal, SyncReporter, type SyncReporterDeps } from './sync-event.ts';
import { SyncFrames, SyncOutlet } from './sync-outlet.ts';
import type { SyncMedium } from './sync-medium.ts';
import type { SyncMembership } from './sync-membership.ts';
import { SyncLimits } from './sync-options.ts';
import { type SyncJoining, SyncReceiver } from './sync-receiver.ts';
import { InMemoryUpdateLog, type UpdateLog } from './update-log.ts';

/**
 * - `seams`         @default the real ones
 * - `log`           where the document is kept. @default in memory
 * - `observability` gets what was refused, as events of type `error`.
 * - `onEvent`       hears everything; what it throws is ignored.
 */
export interface SyncChannelDeps extends Omit<SyncReporterDeps, 'clock'> {
  readonly seams?: Pick<Seams, 'clock' | 'newId' | 'random'>;
  readonly medium: SyncMedium;
  readonly membership: SyncMembership;
  readonly log?: UpdateLog;
}

/** The same, with what was left out. */
type OpeningDeps = SyncChannelDeps & Required<Pick<SyncChannelDeps, 'seams' | 'log'>>;

/**
 * - `agentId`    the member that this end belongs to.
 * - `privateKey` signs what it sends; its public half was given when the member joined.
 * - `document`   what is shared. @default a new one
 */
export interface SyncChannelOptions {
  readonly channelId: string;
  readonly agentId: string;
  readonly privateKey: KeyObject;
  readonly document?: Y.Doc;
  readonly limits?: z.input<typeof SyncLimits>;
}

/**
 * What one end has done since it was opened.
 *
 * - `sent`, `applied` updates; `states` that stood in for updates.
 * - `refused`         messages skipped, by reason.
 * - `waiting`         messages and bytes, headers included, that wait for what comes before them.
 */
export interface SyncCounts {
  readonly sent: number;
  readonly applied: number;
  readonly states: number;
  readonly refused: Readonly<Partial<Record<SyncRefusal, number>>>;
  readonly waiting: { readonly messages: number; readonly bytes: number };
}

/**
 * One member's end of a shared Yjs document (seed 1).
 *
 * Every change of the document is signed, counted and sent to the other members; theirs are applied in causal order.
 * What is malformed, oversized, forged, replayed or from outside is logged with its source and skipped, and never touches
 * the document. What was lost is asked for by state vector. Decisions of one party do not belong in the document: no leases,
 * no budgets, no membership.
 *
 * Members trust each other with content: one may delete what another wrote, and a state that was asked for is taken as
 * its member tells it.
 *
 * A change is told to others when the log has it. A member that ends and comes back with its log has everything
 * that others know of it, begins a new stay, and counts on.
 */
export class CRDTSyncChannel {
  readonly #deps: OpeningDeps;
  readonly #limits: SyncLimits;
  readonly #channelId: string;
  readonly #agentId: string;
  readonly #ownsDocument: boolean;
  readonly #document: LoggedDocument;
  readonly #presence: Presence;
  readonly #reporter: SyncReporter;
  readonly #outlet: SyncOutlet;
  readonly #gate: MessageGate;
  readonly #receiver: SyncReceiver;
  readonly #cancels: (() => void)[] = [];
  readonly #joined = Promise.withResolvers<void>();
  #cancelBeat: (() => void) | undefined;
  #helloId: string | undefined;
  #isJoined = false;
  /** Whether the document held something before the first state came. */
  #bringsContent = false;
  #sent = 0;
  #closing: Promise<void> | undefined;

  /**
   * Loads the document from its log, joins the others and takes over their state; resolves when that has come, or nobody
   * answered within `joinTimeoutMs`. Changes made until then are sent as one. Records that cannot be read or applied are
   * reported, and stay in the log.
   *
   * Fails with REFUSED unless `agentId` is a member, with INVALID_OPTIONS on a limit out of range, with DELIVERY_FAILED
   * when the medium does not pass messages on.
   */
  static async open(deps: SyncChannelDeps, options: SyncChannelOptions): Promise<CRDTSyncChannel> {
    const { agentId, channelId } = options;
    if (!deps.membership.has(agentId)) {
      throw refused(`${agentId} is no member of the sync channel "${channelId}"`, { agentId, channelId });
    }
    const limits = parseOptions(SyncLimits, options.limits ?? {}, 'limits');
    const { log = new InMemoryUpdateLog(), seams = systemSeams() } = deps;
    const channel = new CRDTSyncChannel({ ...deps, log, seams }, options, limits);
    try {
      await channel.#load();
      await channel.#join();
    } catch (error) {
      await channel.close();
      throw error;
    }
    return channel;
  }

  private constructor(deps: OpeningDeps, options: SyncChannelOptions, limits: SyncLimits) {
    const { seams, medium, membership } = deps;
    const { channelId, agentId, privateKey } = options;
    const { clock } = seams;
    this.#deps = deps;
    this.#limits = limits;
    this.#channelId = channelId;
    this.#agentId = agentId;
    this.#ownsDocument = options.document === undefined;
    const doc = options.document ?? newDocument(channelId, seams);
    const reporter = new SyncReporter({ ...deps, clock });
    const document = new LoggedDocument(
      doc,
      { agentId, clock, log: deps.log, reporter, onLocalChange: (update) => this.#onLocalChange(update) },
      limits,
    );
    const presence = new Presence(doc, {
      onLocalChange: () => this.#publishPresence(),
      onListenerThrew: (error) => reporter.tell('handler-failed', agentId, reasonOf(error)),
    });
    const frames = new SyncFrames({
      seams,
      channelId,
      agentId,
      privateKey,
      counted: document.counted,
      clientId: () => doc.clientID,
    });
    const outlet = new SyncOutlet({ agentId, frames, medium, reporter, log: document.log });
    this.#gate = new MessageGate({ channelId, agentId, membership, limits });
    const joining: SyncJoining = {
      awaited: () => (this.#isJoined ? undefined : { helloId: this.#helloId }),
      finish: (stateVector) => this.#finishJoin(stateVector),
    };
    this.#receiver = new SyncReceiver({ clock, document, presence, outlet, reporter, joining }, limits);
    this.#document = document;
    this.#presence = presence;
    this.#reporter = reporter;
    this.#outlet = outlet;
    this.#cancels.push(membership.onLeave((id) => this.#receiver.forget(id, 'it is a member no more')));
  }

  /** The shared document. Changing it sends the change. */
  get document(): Y.Doc {
    return this.#document.content.doc;
  }

  /** Who is here, by Yjs client id: states that are neither kept nor merged (y-protocols). */
  get awareness(): Presence['awareness'] {
    return this.#presence.awareness;
  }

  /**
   * Applies a Yjs update to the document and sends it; resolves when it is in the log and on its way. `sourceAgentId` is the
   * member that this end belongs to.
   *
   * Fails with CHANNEL_CLOSED, with REFUSED for another member, with INVALID_PAYLOAD above `maxUpdateBytes`, with
   * CRDT_DESERIALIZATION_FAILED on what does not decode or apply; nothing has changed then. Fails with DELIVERY_FAILED
   * when the medium does not pass it on; then it is applied, and the others come to ask for it. Fails with what the log
   * fails with when that did not take it; then it is applied and sent all the same.
   */
  async broadcast(update: unknown, sourceAgentId: string): Promise<void> {
    if (this.#closing !== undefined) throw syncChannelClosed(this.#channelId);
    if (sourceAgentId !== this.#agentId) {
      throw refused(`This end belongs to ${this.#agentId}, not to ${sourceAgentId}`, { sourceAgentId });
    }
    if (!(update instanceof Uint8Array)) throw crdtDeserializationFailed(sourceAgentId, 'it is not bytes');
    const { maxUpdateBytes } = this.#limits;
    if (update.length > maxUpdateBytes) throw updateTooLarge(update.length, maxUpdateBytes);
    const fault = this.#document.content.rehearse(update, (id) => this.#receiver.mayBring(sourceAgentId, id));
    if (fault !== undefined) throw crdtDeserializationFailed(sourceAgentId, fault.reason);
    const sending = this.#take(update);
    this.#document.apply(update, sourceAgentId);
    await sending;
    await this.#document.log.whenKept();
  }

  /**
   * Resolves when everything that is in the document by now is in its log: what was changed here and what others sent.
   * Rejects with what the log fails with when it does not take that.
   */
  whenKept(): Promise<void> {
    return this.#document.log.whenKept();
  }

  /**
   * Calls `handler` after each update of another member, or state in place of updates, that has been applied; its
   * payload is a Yjs update. Returns what ends that.
   */
  onUpdate(handler: (message: CRDTSyncMessage) => void): () => void {
    return this.#receiver.onApplied(handler);
  }

  /** How many updates of each member have been applied here, our own included. */
  getVectorClock(): Record<string, number> {
    return this.#document.counted.toRecord();
  }

  counts(): SyncCounts {
    const { counts, waiting } = this.#receiver;
    return { sent: this.#sent, ...counts, refused: { ...this.#reporter.refused }, waiting };
  }

  /** Sends `leave`, writes out the log, and releases medium, timers and document. A document that was given lives on. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const cancel of this.#cancels.splice(0)) cancel();
    this.#cancelBeat?.();
    this.#receiver.close();
    this.#presence.close();
    this.#document.content.close();
    if (this.#helloId !== undefined) this.#outlet.publish('leave').passed.catch(() => {});
    this.#joined.resolve();
    await this.#outlet.flush();
    await this.#document.log.flush();
    await this.#deps.medium.close();
    if (this.#ownsDocument) this.#destroyDocument();
  }

  #destroyDocument(): void {
    try {
      this.document.destroy();
    } catch (error) {
      this.#reporter.tell('handler-failed', this.#agentId, reasonOf(error));
    }
  }

  async #load(): Promise<void> {
    await this.#document.load();
    this.#bringsContent ||= !this.#document.content.isEmpty;
  }

  async #join(): Promise<void> {
    const { medium, seams } = this.#deps;
    medium.onMessage((arrived) => {
      if (this.#closing === undefined) this.#admit(arrived);
    });
    const { operationId, passed } = this.#outlet.publish('hello', {
      payload: this.#presence.encode(),
      digest: this.#document.content.digest(),
    });
    this.#helloId = operationId;
    this.#cancels.push(seams.clock.setTimer(this.#limits.joinTimeoutMs, () => this.#finishJoin(undefined)));
    const others = await passed.catch((error: unknown) => {
      throw notPassedOn(this.#channelId, error);
    });
    if (others === 0) this.#joinAlone();
    await this.#joined.promise;
    if (this.#closing === undefined) this.#scheduleBeat();
  }

  #admit(arrived: unknown): void {
    const admission = this.#gate.admit(arrived);
    if ('message' in admission) this.#receiver.receive(admission.message);
    else this.#reporter.refuse(admission.refusal, admission, admission.reason);
  }

  /** Ends joining: changes are sent one by one from here on. First goes what `stateVector` lacks. */
  #finishJoin(stateVector: Uint8Array | undefined): void {
    if (this.#isJoined) return;
    this.#isJoined = true;
    this.#document.counted.start();
    // What these build on may have come with the state.
    if (this.#document.retryUnread()) this.#bringsContent = true;
    // A message that could not be passed on is an event. The others ask for what it had.
    if (this.#bringsContent) this.#sendChange(this.#document.content.stateSince(stateVector)).catch(() => {});
    this.#joined.resolve();
  }

  /** Ends joining without an answer: there is nobody to send to, and whoever comes asks. */
  #joinAlone(): void {
    this.#bringsContent = false;
    this.#finishJoin(undefined);
  }

  #onLocalChange(update: Uint8Array): void {
    // The same: whoever changed the document waits for nobody.
    this.#take(update).catch(() => {});
    this.#document.log.compactIfDue();
  }

  /** Logs a change of our own, and sends it once the channel has joined. */
  async #take(update: Uint8Array): Promise<void> {
    this.#document.log.append(update);
    if (this.#isJoined) await this.#sendChange(update);
    else this.#bringsContent = true;
  }

  /** A change too large for an update is counted and not sent: the others see that it is missing, and ask for it. */
  async #sendChange(payload: Uint8Array): Promise<void> {
    this.#document.counted.countOwn();
    this.#sent += 1;
    if (payload.length > this.#limits.maxUpdateBytes) return this.#publishPresence();
    await this.#outlet.publish('update', { payload }).passed.catch((error: unknown) => {
      throw notPassedOn(this.#channelId, error);
    });
  }

  #publishPresence(digest?: string): void {
    const content = { payload: this.#presence.encode(), ...(digest === undefined ? {} : { digest }) };
    this.#outlet.publish('presence', content).passed.catch(() => {});
  }

  #scheduleBeat(): void {
    this.#cancelBeat = this.#deps.seams.clock.setTimer(this.#limits.heartbeatMs, () => {
      this.#presence.renew();
      this.#publishPresence(this.#document.content.digest());
      this.#receiver.removeSilent();
      this.#document.log.tryAgain();
      this.#scheduleBeat();
    });
  }
}

/** Its client id comes from the injected random, so that a simulation repeats itself. */
function newDocument(channelId: string, { random }: Pick<Seams, 'random'>): Y.Doc {
  const doc = new Y.Doc({ guid: channelId });
  doc.clientID = Math.floor(random() * 2 ** 32);
  return doc;
}
