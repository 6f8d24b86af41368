import { reasonOf } from '../../runtime/protocol/errors.ts';
import type { CRDTSyncMessage } from '../../runtime/protocol/crdt-sync-message.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { CausalInbox } from './causal-inbox.ts';
import type { LoggedDocument } from './logged-document.ts';
import { Members } from './members.ts';
import type { Presence } from './presence.ts';
import { Repairs } from './repairs.ts';
import type { SyncKind, SyncMessage } from './sync-message.ts';
import type { SyncLimits } from './sync-options.ts';
import type { SyncOutlet } from './sync-outlet.ts';
import type { SyncReporter } from './sync-event.ts';

/**
 * The joining of this end.
 *
 * - `awaited` the `hello` whose answer it waits for, and then the state of the member that answered; undefined once it has
 *             joined.
 * - `finish`  called with the state vector of the member whose state has come.
 */
export interface SyncJoining {
  awaited(): { readonly helloId: string | undefined } | undefined;
  finish(stateVector: Uint8Array | undefined): void;
}

export interface SyncReceiverDeps {
  readonly clock: Clock;
  readonly document: LoggedDocument;
  readonly presence: Presence;
  readonly outlet: SyncOutlet;
  readonly reporter: SyncReporter;
  readonly joining: SyncJoining;
}

/** How many unanswered asks are remembered. */
const MAX_OPEN_ASKS = 64;

/** Handles the others' messages: applies updates in causal order, and gives and takes states. */
export class SyncReceiver {
  readonly #deps: SyncReceiverDeps;
  readonly #limits: SyncLimits;
  readonly #inbox: CausalInbox;
  readonly #members = new Members();
  readonly #repairs: Repairs;
  readonly #handlers = new Set<(message: CRDTSyncMessage) => void>();
  /** Operation ids of our asks, and the member that each went to. */
  readonly #asked = new Map<string, string>();
  readonly #on: Readonly<Record<SyncKind, (message: SyncMessage) => void>> = {
    hello: (message) => this.#onHello(message),
    update: (message) => this.#onUpdate(message),
    ask: (message) => this.#onAsk(message),
    state: (message) => this.#onState(message),
    presence: (message) => this.#onPresence(message),
    leave: ({ sourceAgentId }) => this.forget(sourceAgentId, 'it has closed its channel'),
  };
  #applied = 0;
  #states = 0;

  constructor(deps: SyncReceiverDeps, limits: SyncLimits) {
    this.#deps = deps;
    this.#limits = limits;
    const { clock, document } = deps;
    this.#inbox = new CausalInbox(document.counted, {
      maxMessages: limits.maxGapMessages,
      maxBytes: limits.maxGapBytes,
    });
    this.#repairs = new Repairs({
      clock,
      delayMs: limits.gapTimeoutMs,
      isNeeded: (agentId) => this.#isBehind(agentId),
      ask: (agentId) => this.#ask(agentId),
    });
  }

  get counts() {
    return { applied: this.#applied, states: this.#states };
  }

  get waiting() {
    return { messages: this.#inbox.size, bytes: this.#inbox.bytes };
  }

  /** Calls `handler` with everything that has been applied; returns what ends that. */
  onApplied(handler: (message: CRDTSyncMessage) => void): () => void {
    const own = (message: CRDTSyncMessage): void => handler(message);
    this.#handlers.add(own);
    return () => {
      this.#handlers.delete(own);
    };
  }

  /** Handles a message that was admitted; never throws. */
  receive(message: SyncMessage): void {
    const { document, clock, reporter } = this.#deps;
    const { sourceAgentId, vectorClock, clientId } = message;
    const stay = document.counted.greet(message);
    if (stay === 'replayed') {
      return reporter.refuse('REPLAYED', message, 'it is from an earlier stay of its source');
    }
    if (stay === 'new') this.forget(sourceAgentId);
    this.#members.hear(sourceAgentId, { nowMs: clock.monotonicMs(), vectorClock, clientId });
    this.#on[message.kind](message);
    document.log.compactIfDue();
  }

  /** Says whether `agentId` may bring changes under a Yjs client id: any but those of other members that are here. */
  mayBring(agentId: string, clientId: number): boolean {
    const { document } = this.#deps;
    if (clientId === document.content.doc.clientID) return agentId === document.agentId;
    return this.#members.mayBring(agentId, clientId);
  }

  /** Removes the awareness states of members that have not been heard for too long. */
  removeSilent(): void {
    const { clock, reporter } = this.#deps;
    const { silentAfterMs } = this.#limits;
    for (const agentId of this.#members.fallSilent(clock.monotonicMs() - silentAfterMs)) {
      this.#deps.presence.remove(this.#members.clientIdsOf(agentId));
      reporter.tell('member-silent', agentId, `${agentId} was not heard for ${silentAfterMs} ms`);
    }
  }

  /** Forgets a member: its awareness state, its messages that wait, and open asks. With `reason` it is an event. */
  forget(agentId: string, reason?: string): void {
    this.#deps.presence.remove(this.#members.clientIdsOf(agentId));
    this.#members.forget(agentId);
    this.#inbox.forget(agentId);
    this.#repairs.forget(agentId);
    if (reason !== undefined)
      this.#deps.reporter.tell('member-left', agentId, `${agentId} is gone: ${reason}`);
  }

  close(): void {
    this.#repairs.close();
    this.#inbox.clear();
    this.#handlers.clear();
    this.#asked.clear();
  }

  #onHello(message: SyncMessage): void {
    const { outlet, presence, document } = this.#deps;
    this.#takePresence(message);
    outlet.send(message.sourceAgentId, 'presence', {
      payload: presence.encode(),
      inReplyTo: message.operationId,
      digest: document.content.digest(),
    });
    this.#compare(message);
  }

  #onPresence(message: SyncMessage): void {
    this.#takePresence(message);
    const awaited = this.#deps.joining.awaited();
    if (awaited === undefined) return this.#compare(message);
    if (awaited.helloId !== undefined && awaited.helloId === message.inReplyTo && this.#asked.size === 0) {
      this.#ask(message.sourceAgentId);
    }
  }

  #takePresence(message: SyncMessage): void {
    const { presence, reporter } = this.#deps;
    const { sourceAgentId, payload } = message;
    const fault = presence.apply(payload, (clientId) => this.mayBring(sourceAgentId, clientId));
    if (fault !== undefined) reporter.refuse(fault.refusal, message, fault.reason);
  }

  /** Compares clock and digest with a member's. A lost update shows when its source goes on; the last one shows only here. */
  #compare({ sourceAgentId, vectorClock, digest }: SyncMessage): void {
    const { document, joining } = this.#deps;
    const { content, counted } = document;
    if (counted.isBehind(vectorClock)) return this.#repairs.soon(sourceAgentId);
    if (digest === undefined || joining.awaited() !== undefined || !counted.isEqual(vectorClock)) return;
    if (digest !== content.digest()) this.#repairs.soon(sourceAgentId, true);
  }

  #onUpdate(message: SyncMessage): void {
    const { reporter } = this.#deps;
    const { place, dropped } = this.#inbox.arrive(message);
    for (const { sourceAgentId, operationId } of dropped) {
      reporter.tell('gap-dropped', sourceAgentId, `${operationId} waited, and had to go for a later update`);
      this.#repairs.now(sourceAgentId);
    }
    if (place === 'waiting') return this.#repairs.soon(message.sourceAgentId);
    if (place !== 'ready') {
      const refusal = place === 'duplicate' ? 'DUPLICATE' : 'REPLAYED';
      return reporter.refuse(refusal, message, 'it is counted already');
    }
    this.#deliver(message);
    this.#drain();
  }

  #drain(): void {
    for (let next = this.#inbox.next(); next !== undefined; next = this.#inbox.next()) this.#deliver(next);
  }

  #deliver(message: SyncMessage): void {
    const { document, reporter } = this.#deps;
    const { sourceAgentId, payload } = message;
    const fault = document.content.rehearse(payload, (clientId) => this.mayBring(sourceAgentId, clientId));
    // Counted before it is applied: a listener of the document may change something in answer, which builds on it.
    document.counted.advance(message);
    if (fault === undefined) {
      this.#applied += 1;
      return this.#apply(message);
    }
    reporter.refuse(fault.refusal, message, fault.reason);
    this.#repairs.soon(sourceAgentId, true);
  }

  #apply(message: SyncMessage): void {
    const { document, reporter } = this.#deps;
    const { sourceAgentId, vectorClock, payload, timestamp, operationId } = message;
    // Logged before it is applied, for the same reason.
    document.log.append(payload);
    const hasChanged = document.apply(payload, sourceAgentId);
    if (!hasChanged && message.kind === 'state') return;
    for (const handler of this.#handlers) {
      try {
        handler({ sourceAgentId, vectorClock, payload, timestamp, operationId });
      } catch (error) {
        reporter.tell('handler-failed', sourceAgentId, reasonOf(error));
      }
    }
  }

  #onAsk(message: SyncMessage): void {
    const { document, outlet, reporter } = this.#deps;
    const { content, counted } = document;
    const { maxStateBytes } = this.#limits;
    const { sourceAgentId, payload: wanted, operationId } = message;
    let payload: Uint8Array;
    try {
      payload = content.stateSince(wanted);
    } catch (error) {
      return reporter.refuse('MALFORMED', message, `its state vector does not decode: ${reasonOf(error)}`);
    }
    if (payload.length > maxStateBytes) {
      const reason = `the state it asks for has ${payload.length} bytes, at most ${maxStateBytes} are sent`;
      return reporter.refuse('OVERSIZED', message, reason);
    }
    const stateVector = content.stateVector();
    const sessions = counted.sessions();
    outlet.send(sourceAgentId, 'state', { payload, stateVector, sessions, inReplyTo: operationId });
  }

  #onState(message: SyncMessage): void {
    const { document, reporter, joining } = this.#deps;
    const { sourceAgentId, inReplyTo = '', payload, vectorClock, sessions = {}, stateVector } = message;
    if (this.#asked.get(inReplyTo) !== sourceAgentId) {
      return reporter.refuse('UNASKED', message, 'nobody asked for this state');
    }
    this.#asked.delete(inReplyTo);
    const fault = document.content.rehearse(payload);
    if (fault !== undefined) return reporter.refuse(fault.refusal, message, fault.reason);
    this.#repairs.answered(sourceAgentId);
    document.counted.merge(vectorClock, sessions);
    this.#states += 1;
    this.#apply(message);
    reporter.tell('state-applied', sourceAgentId, `the state of ${sourceAgentId}, ${payload.length} bytes`);
    if (joining.awaited() !== undefined) joining.finish(stateVector);
    this.#drain();
    if (this.#inbox.waitingOf(sourceAgentId) > 0) this.#repairs.soon(sourceAgentId);
  }

  #isBehind(agentId: string): boolean {
    const clock = this.#members.clockOf(agentId);
    return (
      clock !== undefined &&
      (this.#inbox.waitingOf(agentId) > 0 || this.#deps.document.counted.isBehind(clock))
    );
  }

  #ask(agentId: string): void {
    const { document, outlet, reporter } = this.#deps;
    const payload = document.content.stateVector();
    this.#asked.set(outlet.send(agentId, 'ask', { payload }), agentId);
    for (const oldest of this.#asked.keys()) {
      if (this.#asked.size <= MAX_OPEN_ASKS) break;
      this.#asked.delete(oldest);
    }
    reporter.tell('state-asked', agentId, `${agentId} is asked for what is missing here`);
  }
}
