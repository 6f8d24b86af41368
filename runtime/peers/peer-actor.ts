import { PENDING } from '../agent/pending.ts';
import { entryOf, refuseOtherKind } from '../agent/find-handler.ts';
import type { ActorLife } from '../cell/actor-life.ts';
import type { Cell } from '../cell/cell.ts';
import type { Handling } from '../cell/handling.ts';
import { markTraced } from '../cell/mail-spans.ts';
import { RelayedStream } from '../cell/relayed-stream.ts';
import { type Mail, NO_ASK, toEnvelope } from '../mailbox/mail.ts';
import { type Budget, type Cost, restOf } from '../protocol/budget.ts';
import type { A2AEnvelope, EnvelopeMetadata } from '../protocol/envelope.ts';
import { remoteUnreachable } from '../protocol/edge-errors.ts';
import { ERROR_CODES, type ErrorCode, isOrreryError, OrreryError, reasonOf } from '../protocol/errors.ts';
import type { Asking, RequestUser, SentRequest } from './own-request.ts';
import type { LeavingMail, PeerChannels } from './peer-channels.ts';
import type { PeerAnswer, ToldError } from './peer-message.ts';
import { type PeerNames, renamed } from './peer-names.ts';
import type { AnswerAbout } from './peer-review.ts';
import type { PeerLine } from './peer-line.ts';

/** How an agent of another node is reached. */
export interface PeerWay {
  readonly line: PeerLine;
  readonly names: PeerNames;
  readonly channels: PeerChannels;
  /** What its answers are tainted with; undefined for a node that is trusted. */
  readonly taint: string | undefined;
  /** Looks at an answer of one of its agents; an error where it is not to be used. */
  readonly review: (value: unknown, about: AnswerAbout) => OrreryError | undefined;
}

/** Knows the way to the agents of every other node. */
export interface PeerWays {
  wayTo(node: string): PeerWay;
}

/**
 * One life of an agent of another node. Its cell and mailbox are here, so that deadlines, credit and outcomes are; each envelope is
 * asked of its node, and ends here when its outcome there is known.
 */
export class PeerActor implements ActorLife {
  state: unknown = undefined;
  isOver = false;
  readonly #cell: Cell;
  readonly #way: () => PeerWay;
  readonly #open = new Set<Relayed>();

  /** `way` throws REMOTE_UNREACHABLE where there is none. */
  constructor(cell: Cell, way: () => PeerWay) {
    this.#cell = cell;
    this.#way = way;
  }

  async start(): Promise<unknown> {
    return undefined;
  }

  snapshot(): undefined {
    return undefined;
  }

  handle(mail: Mail, handling: Handling): unknown {
    if (mail.extras?.channel !== undefined) return this.#passOn(mail, handling);
    const entry = entryOf(this.#cell.definition, mail.capability);
    const isStream = mail.extras?.stream === true;
    if (entry !== undefined) refuseOtherKind(entry, isStream, this.#cell.row.id);
    try {
      this.#relay(mail, handling, this.#way());
    } catch (error) {
      if (!isOrreryError(error) || error.code !== 'REMOTE_UNREACHABLE') throw error;
      this.#cell.deadLetter(handling, unreached(mail, error));
    }
    return PENDING;
  }

  /** What belongs to a channel goes the same way; its ends say what becomes of it. */
  #passOn(mail: Mail, handling: Handling): unknown {
    const way = this.#way();
    const leaving = way.channels.leave(mail, this.#cell.row);
    if ('answer' in leaving) return leaving.answer;
    this.#relay(mail, handling, way, leaving);
    return PENDING;
  }

  #relay(mail: Mail, handling: Handling, way: PeerWay, leaving?: LeavingMail): void {
    new Relayed(this.#cell, handling, way, leaving).begin(mail, this.#open);
  }

  accepts(): boolean {
    return false;
  }

  hasBegun(): boolean {
    return true;
  }

  abandon(): void {
    this.isOver = true;
  }

  async end(): Promise<void> {
    this.isOver = true;
    for (const relayed of [...this.#open]) relayed.stop(`${this.#cell.row.id} is stopped`);
    this.#open.clear();
  }
}

/** What was tried before may have arrived then. */
function unreached({ attempts }: Mail, error: OrreryError): OrreryError {
  if (attempts === 0) return error;
  const { url, reason } = error.details as { readonly url: string; readonly reason: string };
  return remoteUnreachable(url, reason, { mayHaveArrived: true, cause: error.cause });
}

const NOTHING: Cost = {};
/** What of the metadata means something in this system alone. */
const OWN = ['deadlineAtMs', 'requester', 'routingHint'] as const;

/** One envelope on its way to an agent of another node, and what comes back. */
class Relayed implements RequestUser {
  readonly #cell: Cell;
  readonly #handling: Handling;
  readonly #way: PeerWay;
  /** What is said of it as part of a channel. */
  readonly #leaving: LeavingMail | undefined;
  #sent: SentRequest | undefined;
  #stream: RelayedStream | undefined;
  #reserved = NOTHING;
  #open: Set<Relayed> | undefined;

  constructor(cell: Cell, handling: Handling, way: PeerWay, leaving: LeavingMail | undefined) {
    this.#cell = cell;
    this.#handling = handling;
    this.#way = way;
    this.#leaving = leaving;
  }

  /** Is among those in `open` until it is over. Throws what refuses it before anything is sent. */
  begin(mail: Mail, open: Set<Relayed>): void {
    open.add(this);
    this.#open = open;
    try {
      this.#sent = this.#way.line.request(this.#askingOf(mail), this);
    } catch (error) {
      this.#end({});
      throw this.#leaving?.failed(error as OrreryError, true) ?? error;
    }
    // What an envelope of a channel came to is what its recipient says.
    if (this.#leaving?.part.act === 'data') mail.deadlineAtMs = 0;
    this.#handling.whenCutShort(() => this.#cutShort());
    if (mail.extras?.stream === true)
      this.#stream = new RelayedStream(this.#cell, this.#handling, (count) => this.#sent?.pull(count));
  }

  /** Its agent is stopped. What was told goes on where it is. */
  stop(reason: string): void {
    if (this.#handling.mail?.ask === NO_ASK) this.#sent?.leave();
    else this.#sent?.abort(reason);
    this.#end({});
  }

  #askingOf(mail: Mail): Asking {
    const { deadlineAtMs, extras } = mail;
    const isStream = extras?.stream === true;
    const asking: Asking = {
      type: 'request',
      wants: isStream ? 'stream' : mail.ask === NO_ASK ? 'outcome' : 'value',
      envelope: this.#envelopeOf(mail),
    };
    if (deadlineAtMs > 0) asking.deadlineMs = Math.max(0, deadlineAtMs - this.#cell.thread.seams.clock.now());
    if (extras?.derived === true) asking.isRepeatable = true;
    if (extras?.frame === true) asking.isFrame = true;
    if (this.#leaving !== undefined) asking.channel = this.#leaving.part;
    // It comes again when the session is lost.
    else if (asking.wants === 'value' && this.#cell.isRetry(mail)) asking.isRepeatable = true;
    return asking;
  }

  /** The envelope with the names that everybody has; a requester is this system's own, and a deadline is told as what is left. */
  #envelopeOf(mail: Mail): A2AEnvelope {
    const { thread, row } = this.#cell;
    const { names } = this.#way;
    const { tier, sandboxId } = thread.judge.partyOf(mail.sender);
    const envelope = toEnvelope(mail, tier, sandboxId);
    if (this.#leaving !== undefined) envelope.payload = this.#leaving.payload;
    envelope.sender = names.everywhere(mail.sender);
    envelope.recipient = names.everywhere(row.id);
    const metadata: Record<string, unknown> = envelope.metadata as EnvelopeMetadata;
    for (const own of OWN) if (metadata[own] !== undefined) metadata[own] = undefined;
    if (mail.path !== undefined) metadata['path'] = renamed(mail.path, (agent) => names.everywhere(agent));
    if (mail.extras?.budget !== undefined) metadata['budget'] = this.#reserve();
    markTraced(envelope, this.#handling);
    return envelope;
  }

  /** The whole budget counts as spent until the other node says how much was, so that grants never exceed it. */
  #reserve(): Budget | undefined {
    const { budget } = this.#handling;
    const { hops: _, ...amounts } = budget;
    if (Object.keys(amounts).length > 0) this.#handling.spend(amounts);
    this.#reserved = amounts;
    return Object.keys(budget).length === 0 ? undefined : budget;
  }

  onAnswer(answer: PeerAnswer): void {
    const { thread } = this.#cell;
    thread.turns.beginUnlessRunning();
    const handling = this.#handling;
    if (handling.isOver) return;
    this.#mark(answer.taint);
    if (this.#leaving !== undefined && answer.type === 'done') return this.#passed(this.#leaving, answer);
    if (answer.type === 'chunk' || answer.type === 'done') {
      const refusal = this.#review(answer.value);
      if (refusal !== undefined)
        return this.#refuse(refusal, answer.type === 'done' ? answer.spent : undefined);
    }
    switch (answer.type) {
      case 'chunk':
        if (this.#stream === undefined) return this.#nonsense('it streams an answer that is one value');
        try {
          this.#stream.send(answer.value);
        } catch (error) {
          this.#nonsense(reasonOf(error));
        }
        return;
      case 'progress':
        return this.#progress(answer);
      case 'done':
        this.#end(answer.spent ?? {});
        this.#cell.finish(handling, answer.value);
        return;
      case 'failed':
        this.#end(answer.spent ?? {});
        this.#fail(errorFrom(answer.error, this.#cell.row.id, answer.partial), true);
    }
  }

  #passed(leaving: LeavingMail, { value, spent }: PeerAnswer & { type: 'done' }): void {
    this.#end(spent ?? {});
    try {
      this.#cell.finish(this.#handling, leaving.answered(value));
    } catch (error) {
      this.#fail(error as OrreryError, false);
    }
  }

  /** `isDecided`: its node has said so, and knows of it no more. */
  #fail(error: OrreryError, isDecided: boolean): void {
    this.#cell.fail(this.#handling, this.#leaving?.failed(error, isDecided) ?? error);
  }

  #progress({ fraction, note, partial, report }: PeerAnswer & { type: 'progress' }): void {
    if (partial !== undefined) this.#handling.checkpoint(partial);
    else if (report !== undefined) this.#handling.report(report);
    else this.#handling.progress(fraction, note);
  }

  #review(value: unknown): OrreryError | undefined {
    const mail = this.#handling.mail as Mail;
    return this.#way.review(value, {
      sender: this.#cell.row.id,
      recipient: mail.sender,
      envelopeId: mail.id,
    });
  }

  /** What is told of its node, by whose answers this system is not bound. */
  #nonsense(reason: string): void {
    this.#refuse(errorFrom({ code: 'REMOTE_FAILED', message: reason }, this.#cell.row.id));
  }

  #refuse(error: OrreryError, spent: Cost = this.#reserved): void {
    this.#sent?.abort(error.message);
    this.#end(spent);
    this.#fail(error, false);
  }

  #mark(said: readonly string[] = []): void {
    const { taint } = this.#way;
    if (taint !== undefined) this.#handling.markOutside(taint);
    for (const source of said) this.#handling.markOutside(source);
  }

  onLost(reason: string, mayHaveArrived: boolean): void {
    this.#cell.thread.turns.beginUnlessRunning();
    this.#end(mayHaveArrived ? this.#reserved : {});
    const handling = this.#handling;
    if (handling.isOver) return;
    if (this.#leaving !== undefined) this.#cell.fail(handling, this.#leaving.lost(reason, mayHaveArrived));
    else if (mayHaveArrived) this.#cell.lose(handling, reason);
    else {
      const error = remoteUnreachable(this.#way.line.node, reason, { mayHaveArrived });
      this.#cell.deadLetter(handling, unreached(handling.mail as Mail, error));
    }
  }

  /** Its deadline has passed, or it was cancelled. */
  #cutShort(): void {
    const handling = this.#handling;
    if (handling.isOver || handling.cutShort === undefined) return;
    this.#sent?.abort(handling.cutShort.message);
    this.#end(this.#reserved);
    this.#fail(handling.cutShort, false);
  }

  #end(spent: Cost): void {
    this.#stream?.close();
    this.#stream = undefined;
    this.#open?.delete(this);
    if (this.#reserved === NOTHING) return;
    const rest = restOf(this.#reserved, spent);
    this.#reserved = NOTHING;
    if (Object.keys(rest).length > 0 && !this.#handling.isOver) this.#handling.refund(rest);
  }
}

const KNOWN: ReadonlySet<string> = new Set(ERROR_CODES);

/** The error of another node, in a code of ours. */
function errorFrom(
  { code, message, retryAfterMs, errorId }: ToldError,
  agentId: string,
  partial?: unknown,
): OrreryError {
  return new OrreryError(KNOWN.has(code) ? (code as ErrorCode) : 'REMOTE_FAILED', message, {
    details: {
      agentId,
      ...(KNOWN.has(code) ? {} : { code }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(errorId === undefined ? {} : { errorId }),
      ...(partial === undefined ? {} : { partial }),
    },
  });
}
