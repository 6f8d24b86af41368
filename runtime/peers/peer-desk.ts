import { grantedAmounts } from '../budget/amounts.ts';
import type { Funds } from '../budget/mail-account.ts';
import type { SendingThread } from '../cell/mail-sender.ts';
import { WaitingValue } from '../cell/waiting-asks.ts';
import { type Mail, fromEnvelope } from '../mailbox/mail.ts';
import type { Outsider } from '../mailbox/behalf.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import type { Cost } from '../protocol/budget.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import {
  agentNotFound,
  cancelled,
  errorToData,
  isOrreryError,
  OrreryError,
  refused,
} from '../protocol/errors.ts';
import type { Requester } from '../protocol/requester.ts';
import { mergeTaint, type Taint } from '../protocol/taint.ts';
import { noteAt, toldFailure } from '../protocol/told-failure.ts';
import type { ArrivingMail, PeerChannels } from './peer-channels.ts';
import { cutText, type PeerRequest, PEERS_ID, type ToldError } from './peer-message.ts';
import { type PeerNames, readName } from './peer-names.ts';
import type { PeerSession, ServedRequest } from './peer-session.ts';
import { SharedPaths } from './shared-paths.ts';

/** What other nodes ask is done in this thread, in the names of their agents. */
export interface PeerDeskDeps {
  readonly thread: SendingThread;
  readonly names: PeerNames;
  readonly channels: PeerChannels;
  /** The name of this node. */
  readonly self: string;
}

/** Whose request it is: a node, as it is known here. */
export interface Asker {
  readonly node: string;
  /** What all that it says is tainted with; undefined for a node that is trusted. */
  readonly taint: string | undefined;
  /** Deaths over what it asks are charged to it. */
  readonly outsider: Outsider;
  /** For whom it is done. */
  readonly requester: Requester;
  /** Resolves when the row of this agent of its is there; undefined when it has shown no card of it. */
  readonly whenKnown: (name: string) => Promise<unknown> | undefined;
}

/** Does for other nodes what they ask of agents here. What they claim of tier, sandbox and requester counts for nothing. */
export class PeerDesk {
  readonly #deps: PeerDeskDeps;
  /** How many requests of an agent wait until its row is here; what comes after them waits behind them. */
  readonly #waiting = new Map<string, number>();
  readonly #paths: SharedPaths;

  constructor(deps: PeerDeskDeps) {
    this.#deps = deps;
    this.#paths = new SharedPaths(deps.names);
  }

  /** Begins on a request; its answers go to the session. */
  serve(request: PeerRequest, session: PeerSession, asker: Asker): ServedRequest {
    const served = new Served(request, session, asker, this.#deps, this.#paths);
    const { sender } = request.envelope;
    try {
      if (readName(sender)?.node !== asker.node)
        throw refused(`"${sender}" is not an agent of "${asker.node}"`, { sender });
      const known = asker.whenKnown(sender);
      if (known === undefined) throw refused(`"${sender}" has shown no card`, { sender });
      if (served.hasRow && !this.#waiting.has(sender)) served.perform();
      else this.#performLater(served, sender, known);
    } catch (error) {
      served.fail(error);
    }
    return served;
  }

  #performLater(served: Served, sender: string, known: Promise<unknown>): void {
    this.#waiting.set(sender, (this.#waiting.get(sender) ?? 0) + 1);
    known.then(
      () => {
        this.#waitsNoMore(sender);
        served.perform();
      },
      (error: unknown) => {
        this.#waitsNoMore(sender);
        served.fail(error);
      },
    );
  }

  #waitsNoMore(sender: string): void {
    const left = (this.#waiting.get(sender) ?? 0) - 1;
    if (left > 0) this.#waiting.set(sender, left);
    else this.#waiting.delete(sender);
  }
}

/** One request of another node. */
class Served implements ServedRequest {
  readonly #request: PeerRequest;
  readonly #session: PeerSession;
  readonly #asker: Asker;
  readonly #deps: PeerDeskDeps;
  readonly #paths: SharedPaths;
  /** Why nobody waits for it any more. */
  #goneBecause: OrreryError | undefined;
  /** Made for whoever needs it. */
  #abort: AbortController | undefined;
  /** What waits for an answer, and is given up when nobody waits for it. */
  #asked: Mail | undefined;
  /** What was told, and goes on unless it is cancelled. */
  #told: Mail | undefined;
  #credit = 0;
  #wake: () => void = () => undefined;
  #taint: Taint | undefined;
  #spent: Required<Cost> | undefined;

  constructor(
    request: PeerRequest,
    session: PeerSession,
    asker: Asker,
    deps: PeerDeskDeps,
    paths: SharedPaths,
  ) {
    this.#paths = paths;
    this.#request = request;
    this.#session = session;
    this.#asker = asker;
    this.#deps = deps;
  }

  pull(count: number): void {
    this.#credit += count;
    this.#wake();
  }

  abort(reason: string, isFinal: boolean): void {
    const { thread } = this.#deps;
    // It goes on, and whoever asks for it again gets its answer.
    if (!isFinal && this.#request.isRepeatable === true && this.#request.wants === 'value') return;
    this.#goneBecause ??= cancelled(reason);
    this.#abort?.abort(this.#goneBecause);
    if (this.#asked !== undefined) thread.mailSender.abandon(this.#asked, this.#goneBecause);
    if (isFinal && this.#told !== undefined) thread.cancel(this.#told.id);
    this.#wake();
  }

  readonly #signal = (): AbortSignal => {
    this.#abort ??= new AbortController();
    if (this.#goneBecause !== undefined) this.#abort.abort(this.#goneBecause);
    return this.#abort.signal;
  };

  /** Whether the row of whoever asks is here. */
  get hasRow(): boolean {
    return this.#row !== undefined;
  }

  get #row(): AgentRow | undefined {
    const { thread, names } = this.#deps;
    return thread.table.get(names.here(this.#request.envelope.sender));
  }

  perform(): void {
    try {
      if (this.#goneBecause !== undefined) throw this.#goneBecause;
      const from = this.#row;
      if (from === undefined) throw agentNotFound(this.#request.envelope.sender);
      const mail = this.#mailOf(this.#request, from);
      const { wants, channel } = this.#request;
      this.#deps.thread.turns.beginUnlessRunning();
      if (channel !== undefined) this.#pass(from, mail);
      else if (wants === 'value') this.#ask(from, mail);
      else if (wants === 'stream') void this.#read(from, mail);
      else void this.#tell(from, mail);
    } catch (error) {
      this.fail(error);
    }
  }

  #ask(from: AgentRow, mail: Mail, arriving?: ArrivingMail): void {
    const { budget, channel } = mail.extras ?? {};
    const done = (value: unknown): void => {
      arriving?.answered(value);
      this.#session.answer({ type: 'done', n: this.#request.n, value, ...this.#lastWords });
    };
    const fail = (error: Error): void => {
      arriving?.failed(error);
      this.fail(error);
    };
    const waiting = new WaitingValue(mail, undefined, done as never, fail, this.#listeners);
    // What was sent over a channel comes also when that is over.
    const isGivenUp = channel === undefined || channel.act === 'open';
    if (isGivenUp) this.#asked = mail;
    this.#deps.thread.mailSender.askLater(from, waiting, {
      ...(isGivenUp ? { signalOfWait: this.#signal } : {}),
      ...(budget === undefined ? {} : { budget, onSpent: this.#onSpent }),
    });
  }

  /** What belongs to a channel is asked as well; its answer says whether it was taken. */
  #pass(from: AgentRow, mail: Mail): void {
    const arriving = this.#deps.channels.arrive(this.#request, from, mail);
    const { n } = this.#request;
    if ('answer' in arriving) return this.#session.answer({ type: 'done', n, value: arriving.answer });
    this.#ask(from, mail, arriving);
  }

  async #read(from: AgentRow, mail: Mail): Promise<void> {
    const { n } = this.#request;
    const { budget } = mail.extras ?? {};
    try {
      const chunks = this.#deps.thread.mailSender.streamLater(from, mail, {
        ...this.#listeners,
        signal: this.#signal(),
        ...(budget === undefined ? {} : { budget, onSpent: this.#onSpent }),
      });
      for await (const value of chunks) {
        if (this.#credit <= 0) await this.#someCredit();
        this.#credit -= 1;
        if (this.#goneBecause !== undefined) throw this.#goneBecause;
        this.#session.answer({ type: 'chunk', n, value, ...this.#tainted });
      }
      this.#session.answer({ type: 'done', n, ...this.#lastWords });
    } catch (error) {
      this.fail(error);
    }
  }

  async #tell(from: AgentRow, mail: Mail): Promise<void> {
    const { thread } = this.#deps;
    let funds: Funds | undefined;
    this.#told = mail;
    try {
      funds = this.#fundsFor(mail);
      await thread.mailSender.sendSettled(from, mail, { funds, signalOfWait: this.#signal });
      if (funds?.account !== undefined) this.#spent = thread.accounts.spent(funds.account);
      this.#session.answer({ type: 'done', n: this.#request.n, ...this.#lastWords });
    } catch (error) {
      this.fail(error);
    } finally {
      if (funds?.account !== undefined) thread.accounts.close(funds.account);
    }
  }

  /** What it may spend, in an account of its own: how much that was can be told when it is over. */
  #fundsFor({ extras }: Mail): Funds | undefined {
    if (extras?.budget === undefined) return undefined;
    const { hops, ...amounts } = extras.budget;
    const account = this.#deps.thread.accounts.open(undefined, grantedAmounts(amounts));
    if (account instanceof OrreryError) throw account;
    return { account, hops, isHandler: false };
  }

  /** The envelope as one of this system: what its node may not say of itself is left out. */
  #mailOf({ envelope, deadlineMs, isRepeatable, isFrame }: PeerRequest, from: AgentRow): Mail {
    const { thread, self } = this.#deps;
    const read = readName(envelope.recipient);
    if (read?.node !== self) throw agentNotFound(envelope.recipient);
    const mail = fromEnvelope(withoutOwn(envelope));
    mail.sender = from.id;
    mail.recipient = read.agent;
    mail.timestamp = thread.turns.stamp();
    mail.deadlineAtMs = deadlineMs === undefined ? 0 : Math.max(1, mail.timestamp + deadlineMs);
    mail.path = mail.path && this.#paths.here(mail.path);
    mail.extras ??= {};
    const { extras } = mail;
    const { taint, outsider, requester } = this.#asker;
    extras.outsider = outsider;
    extras.requester = requester;
    if (taint !== undefined) extras.taint = mergeTaint(extras.taint, [taint]) as Taint;
    if (this.#request.wants === 'stream') extras.stream = true;
    if (isRepeatable === true) extras.derived = true;
    if (isFrame === true && envelope.type === 'stream-data') extras.frame = true;
    return mail;
  }

  get #listeners() {
    const { n } = this.#request;
    return {
      onTaint: (taint: Taint): void => {
        this.#taint = mergeTaint(this.#taint, taint);
      },
      onProgress: ({
        fraction,
        note,
        partial,
        report,
      }: {
        readonly fraction: number;
        readonly note?: string;
        readonly partial?: unknown;
        readonly report?: unknown;
      }): void =>
        this.#session.answer({
          type: 'progress',
          n,
          fraction,
          ...(note === undefined ? {} : { note: cutText(note) }),
          ...(partial === undefined ? {} : { partial }),
          ...(report === undefined ? {} : { report }),
          ...this.#tainted,
        }),
    };
  }

  readonly #onSpent = (spent: Required<Cost>): void => {
    this.#spent = spent;
  };

  get #tainted(): { readonly taint?: Taint } {
    return this.#taint === undefined ? {} : { taint: this.#taint };
  }

  get #lastWords(): { readonly taint?: Taint; readonly spent?: Required<Cost> } {
    return { ...this.#tainted, ...(this.#spent === undefined ? {} : { spent: this.#spent }) };
  }

  fail(error: unknown): void {
    const { thread } = this.#deps;
    const note = noteAt({
      agentId: PEERS_ID,
      seams: thread.seams,
      note: (event) => thread.log.note({ ...event, timestamp: thread.seams.clock.now() }),
    });
    const { code, message, id } = toldFailure(error, note);
    const retryAfterMs = errorToData(error).details?.['retryAfterMs'];
    const told: ToldError = {
      code,
      message: cutText(message),
      ...(id === undefined ? {} : { errorId: id }),
      ...(typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs)
        ? { retryAfterMs: Math.max(0, retryAfterMs) }
        : {}),
    };
    const partial = isOrreryError(error) ? error.details['partial'] : undefined;
    this.#session.answer({
      type: 'failed',
      n: this.#request.n,
      error: told,
      ...(partial === undefined ? {} : { partial }),
      ...this.#lastWords,
    });
  }

  async #someCredit(): Promise<void> {
    while (this.#credit <= 0 && this.#goneBecause === undefined)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }
}

/** Without what a node may not say: whom it is for is said by its recipient, and requesters are this system's own. */
function withoutOwn(envelope: A2AEnvelope): A2AEnvelope {
  const { metadata } = envelope;
  if (metadata?.routingHint === undefined && metadata?.requester === undefined) return envelope;
  const { routingHint: _, requester: __, ...others } = metadata;
  return { ...envelope, metadata: others };
}
