import { type ActorLife, DEFAULT_START_MS, DEFAULT_STOP_MS } from '../cell/actor-life.ts';
import { markTraced } from '../cell/mail-spans.ts';
import { PENDING } from '../agent/pending.ts';
import type { Cell } from '../cell/cell.ts';
import type { CellMailbox } from '../cell/cell-mailbox.ts';
import { entryOf, refuseOtherKind } from '../agent/find-handler.ts';
import { Handling } from '../cell/handling.ts';
import { RelayedStream } from '../cell/relayed-stream.ts';
import { isPrivileged } from '../cell/cell-taint.ts';
import type { InFlow } from '../mailbox/in-flow.ts';
import { type Mail, messageTypeOf, NO_ASK, toEnvelope } from '../mailbox/mail.ts';
import { catalogueEvent } from '../protocol/catalogue-approval.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import type { StepWatch } from '../protocol/step-watch.ts';
import { mergeTaint } from '../protocol/taint.ts';
import { warnOfStray } from '../protocol/warn-of.ts';
import {
  actorDied,
  errorToData,
  notHere,
  notSerialisable,
  type OrreryError,
  reasonOf,
} from '../protocol/errors.ts';
import {
  type AgentProcess,
  errorOfEnd,
  type ProcessEnd,
  type ProcessListener,
  type WorkFrame,
} from './agent-process.ts';
import type { Description } from '../agent/agent-description.ts';
import { foreignText } from './foreign-text.ts';
import type { Turn } from './host-frame.ts';
import { ProcessRequests } from './process-requests.ts';
import type { Processes, ProcessOrder } from './processes.ts';
import { errorOf } from './thrown.ts';

/** An envelope with less time than this is not given ahead: it might be over before its turn. */
const AHEAD_DEADLINE_MS = 1_000;

/** A process has to hear that its time is up, and to say that it is over; on a busy machine it runs only now and then. */
const GRACE_MS = 1_000;

/** An envelope that the process has been given; its handling begins here when the cell comes to it. */
interface Work {
  readonly n: number;
  readonly mail: Mail;
  readonly givenAtMs: number;
  handling: Handling | undefined;
  /** If the handler answers with one. */
  stream: RelayedStream | undefined;
  hasBegun: boolean;
}

export interface ProcessActorDeps {
  readonly processes: Processes;
  readonly order: ProcessOrder;
  /** What its card was made of: what a former process of the same module said. */
  readonly shown: Description;
  /** The process of the life before is gone. */
  readonly isFree: Promise<unknown>;
}

/**
 * One life of an agent whose code runs in a process of its own. The cell, its mailbox and everything that is judged or
 * accounted for are here; the process is given one envelope after the other, and what it does with it is done from here.
 */
export class ProcessActor implements ActorLife, ProcessListener {
  state: unknown = undefined;
  readonly hasOwnMemory = true;
  readonly graceMs = GRACE_MS;
  readonly #cell: Cell;
  readonly #deps: ProcessActorDeps;
  /** In which its start and stop run. */
  readonly #life: Handling;
  readonly #works = new Map<number, Work>();
  /** Those that the cell has not come to yet. */
  readonly #ahead = new Map<Mail, Work>();
  readonly #pace = new Pace();
  readonly #steps: StepWatch;
  #stopWatching: (() => void) | undefined;
  #process: AgentProcess | undefined;
  #requests: ProcessRequests | undefined;
  #given = 0;
  #isRunning = false;
  #ending: Promise<void> | undefined;

  constructor(cell: Cell, deps: ProcessActorDeps) {
    this.#cell = cell;
    this.#deps = deps;
    this.#life = new Handling(cell, undefined);
    this.#steps = cell.thread.log.stepsOf(cell.row.id);
  }

  get isOver(): boolean {
    return this.#life.isOver;
  }

  /** Resolves when its process is gone, or at once if it never had one. */
  get gone(): Promise<unknown> {
    return this.#process?.gone ?? Promise.resolve();
  }

  async start(from?: Snapshot): Promise<unknown> {
    const { thread, row, definition } = this.#cell;
    await this.#deps.isFree;
    if (this.isOver) return undefined;
    const process = this.#deps.processes.take(this.#deps.order);
    this.#process = process;
    this.#requests = new ProcessRequests(row.id, process, this.#deps.order.options.mayDeclareClean);
    thread.supervisor.hasProcess(this.#cell, process.pid);
    const description = await process.description;
    if (this.isOver) return undefined;
    this.#judgeText(description);
    const timeoutMs = definition.options.startTimeoutMs ?? DEFAULT_START_MS;
    await thread.wheel.within(process.start(row.id, this, from), timeoutMs, `The start of ${row.id}`);
    this.#isRunning = !this.isOver;
    if (this.#isRunning) this.#watch(process);
    return undefined;
  }

  async snapshot(): Promise<Snapshot | undefined> {
    const { thread, row, definition } = this.#cell;
    const timeoutMs = definition.options.stopTimeoutMs ?? DEFAULT_STOP_MS;
    const leaving = this.#process?.leave() ?? Promise.resolve(undefined);
    const left = await thread.wheel.within(leaving, timeoutMs, `The snapshot of ${row.id}`);
    return left && { ...left, agentId: row.id, atMs: thread.seams.clock.now() };
  }

  handle(mail: Mail, handling: Handling): unknown {
    const { thread, row, definition } = this.#cell;
    const { capability } = mail;
    const entry = entryOf(definition, capability);
    if (entry !== undefined) refuseOtherKind(entry, mail.extras?.stream === true, row.id);
    else if (!definition.envelopeHandlers.has(messageTypeOf(mail))) {
      const intercepted = thread.interceptors.handlerOf(capability ?? messageTypeOf(mail));
      if (intercepted !== undefined) return intercepted(handling.envelope as never, handling as never);
    }
    const work =
      this.#ahead.get(mail) ?? this.#give(mail, this.#cell.inHand > 1 ? 'between' : 'own', handling);
    this.#attach(work, handling);
    if (entry?.kind === 'stream') {
      const pull = (count: number): void => this.#process?.write({ t: 'pull', n: work.n, count });
      work.stream = new RelayedStream(this.#cell, handling, pull);
    }
    return PENDING;
  }

  /**
   * Gives the process what is next, as much as it does in a moment: it need not wait for the host between two envelopes.
   * What it has begun on is known from what it says, so that a death cuts off no more than without.
   */
  runAhead(mailbox: CellMailbox): void {
    if (!this.#isRunning || this.#works.size === 0) return;
    const most = this.#pace.ahead;
    while (this.#ahead.size < most) {
      const mail = mailbox.takeAhead(this.#mayRunAhead);
      if (mail === undefined) return;
      try {
        const work = this.#give(mail, 'next');
        this.#ahead.set(mail, work);
        (mail.flow as InFlow).start(mail.sequence);
      } catch {
        return; // It is given in its turn, and then this is told.
      }
    }
  }

  hasTaken(mail: Mail): boolean {
    return this.#ahead.has(mail);
  }

  accepts(): boolean {
    return false;
  }

  hasBegun(mail: Mail): boolean {
    const process = this.#process;
    if (process === undefined || !process.isGone || !process.isHeardOut) return true;
    for (const work of this.#works.values()) if (work.mail === mail) return work.hasBegun;
    return true;
  }

  abandon(): void {
    this.#endLife(actorDied(this.#cell.row.id, 'it did not start'));
    this.#process?.end(NOT_STARTED);
  }

  /** Ends its process from outside: nobody is to blame. */
  endProcess(): void {
    this.#process?.end({ reason: 'it was ended from outside', isCharged: false });
  }

  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const { thread, row, definition } = this.#cell;
    const process = this.#process;
    this.#isRunning = false;
    process?.goOn();
    if (process !== undefined && !this.isOver) {
      const timeoutMs = definition.options.stopTimeoutMs ?? DEFAULT_STOP_MS;
      try {
        const failure = await thread.wheel.within(process.stop(), timeoutMs, `The stop of ${row.id}`);
        if (failure !== undefined) thread.log.error(row.id, errorOf(failure));
      } catch (error) {
        thread.log.error(row.id, error);
      }
    }
    this.#endLife(notHere(row.id, thread.id));
    process?.end(OVER);
    await process?.gone;
  }

  /** Has the process tell the steps of its machine while somebody wants to be told. */
  #watch(process: AgentProcess): void {
    this.#stopWatching = this.#steps.onChange?.(() =>
      process.write({ t: 'watch', isOn: this.#steps.isOn() }),
    );
    if (this.#steps.isOn()) process.write({ t: 'watch', isOn: true });
  }

  #endLife(reason: OrreryError): void {
    this.#stopWatching?.();
    for (const { stream } of this.#works.values()) stream?.close();
    this.#life.abort(reason);
    this.#life.end();
  }

  // What the process says

  onWork(frame: WorkFrame): boolean {
    if ('n' in frame && this.#isAhead(frame.n)) return false;
    this.#cell.thread.turns.beginUnlessRunning();
    switch (frame.t) {
      case 'begun':
        this.#workOf(frame.n, (work) => {
          work.hasBegun = true;
        });
        return true;
      case 'done':
        this.#workOf(frame.n, (work) => this.#done(work, frame.output));
        return true;
      case 'failed':
        this.#workOf(frame.n, (work) => this.#failed(work, errorOf(frame.error)));
        return true;
      case 'chunk':
        this.#workOf(frame.n, ({ stream }) => {
          if (stream === undefined) throw new Error(`it streams an answer to envelope ${frame.n}`);
          stream.send(frame.value);
        });
        return true;
      case 'progress':
        this.#contextOf(frame.n).progress(frame.fraction, frame.note);
        return true;
      case 'report':
        this.#contextOf(frame.n).report(frame.what);
        return true;
      case 'ask':
      case 'read':
      case 'send':
        this.#requests?.begin(frame, this.#contextOf(frame.n));
        return true;
      case 'call':
        this.#requests?.call(frame, this.#contextOf(frame.n));
        return true;
      case 'cancel':
        this.#requests?.cancel(frame.a);
        return true;
      case 'want':
        this.#requests?.want(frame.a, frame.count);
        return true;
      case 'step':
        if (this.#steps.isOn()) this.#steps.tell(frame.step);
        return true;
      case 'exited':
        this.#cell.exit();
        return true;
      case 'lost':
        this.#cell.crash(errorOf(frame.error), this.#lastBegun(), true);
        return true;
      case 'stray':
        this.#noteStray(errorOf(frame.error));
        return true;
    }
  }

  onFinding(reason: string): void {
    const { thread, row } = this.#cell;
    const timestamp = thread.seams.clock.now();
    thread.log.note({ type: 'watchdog', timestamp, place: thread.id, agentId: row.id, reason });
  }

  onGone(end: ProcessEnd): void {
    if (this.#isRunning) this.#cell.crash(errorOfEnd(end), end.isCharged ? this.#lastBegun() : undefined);
  }

  #give(mail: Mail, turn: Turn, handling?: Handling): Work {
    const process = this.#process as AgentProcess;
    const { tier, sandboxId } = this.#cell.thread.judge.partyOf(mail.sender);
    const envelope = toEnvelope(mail, tier, sandboxId);
    markTraced(envelope, handling);
    const n = this.#given + 1;
    const isRead = mail.extras?.stream === true;
    const isAsked = mail.ask !== NO_ASK;
    try {
      process.write({ t: 'handle', n, envelope, isAsked, isRead, turn }, mail.extras?.structured === true);
    } catch (error) {
      throw notSerialisable('payload', reasonOf(error));
    }
    this.#given = n;
    const givenAtMs = this.#cell.thread.seams.clock.monotonicMs();
    const work = { n, mail, givenAtMs, handling: undefined, stream: undefined, hasBegun: false };
    this.#works.set(n, work);
    return work;
  }

  /** The cell has come to it. */
  #attach(work: Work, handling: Handling): void {
    const { n, mail } = work;
    work.handling = handling;
    const wasAhead = this.#ahead.delete(mail);
    handling.signal.addEventListener('abort', () => {
      if (this.#works.has(n))
        this.#process?.write({ t: 'abort', n, error: errorToData(handling.signal.reason) });
    });
    // Whoever waits for its answer is in hand: its turn is now.
    if (wasAhead && this.#cell.inHand > 1) this.#process?.write({ t: 'now', n });
    if (wasAhead) this.#process?.goOn();
  }

  /**
   * Whether its card has foreign text is judged anew in each life, since the text may be another. A process cannot take back
   * where it came from.
   */
  #judgeText(description: Description): void {
    const { shown, order } = this.#deps;
    const textFrom = mergeTaint(shown.textFrom, description.textFrom);
    const { approved } = order.options.catalogue;
    const found = foreignText(this.#cell.row.id, { ...description, textFrom }, approved);
    if (found === undefined) return;
    // What it says of a request that it does not take is of its card, too.
    for (const source of found.taint) this.#life.markOutside(source);
    this.#cell.client.note(catalogueEvent(this.#cell.row.id, found));
  }

  readonly #mayRunAhead = (mail: Mail): boolean => {
    const { thread, definition } = this.#cell;
    const entry = entryOf(definition, mail.capability);
    const { extras, deadlineAtMs } = mail;
    if (entry?.kind !== 'value' || extras?.stream === true || extras?.derived === true) return false;
    if (extras?.channel !== undefined || mail.tombstone !== undefined || mail.attempts > 0) return false;
    if (this.#cell.outcomes.refusedForMs(mail) !== undefined) return false;
    if (extras?.taint !== undefined && isPrivileged(this.#cell, mail)) return false;
    // What it begins on is noted here, when the cell comes to it.
    if (mail.kept > 0 && !this.#cell.isRetry(mail)) return false;
    if (deadlineAtMs > 0 && deadlineAtMs < thread.turns.nowMs + AHEAD_DEADLINE_MS) return false;
    return thread.cancellations.reasonFor(mail) === undefined;
  };

  /** The cell will come to it, and only then is anything done in its name. */
  #isAhead(n: number): boolean {
    const work = this.#works.get(n);
    return this.#isRunning && work !== undefined && work.handling === undefined;
  }

  #done(work: Work, output: unknown): void {
    this.#close(work);
    if (work.handling !== undefined) this.#cell.finish(work.handling, output);
    this.#requests?.workOver(work.n);
  }

  #failed(work: Work, error: Error): void {
    this.#close(work);
    if (work.handling !== undefined) this.#cell.fail(work.handling, error);
    this.#requests?.workOver(work.n);
  }

  #close({ n, givenAtMs, stream }: Work): void {
    this.#works.delete(n);
    stream?.close();
    this.#pace.done(givenAtMs, this.#cell.thread.seams.clock.monotonicMs());
  }

  /** What is said of an envelope that is done with is late, not wrong. */
  #workOf(n: number, use: (work: Work) => void): void {
    const work = this.#works.get(n);
    if (work !== undefined) use(work);
    else this.#requireGiven(n);
  }

  /** In which context something is done; that of an envelope that is done with refuses everything. */
  #contextOf(n: number): Handling {
    if (n === 0) return this.#life;
    const handling = this.#works.get(n)?.handling;
    if (handling !== undefined) return handling;
    this.#requireGiven(n);
    const past = new Handling(this.#cell, undefined);
    past.end();
    return past;
  }

  #requireGiven(n: number): void {
    if (n > this.#given) throw new Error(`it speaks of envelope ${n}, and has been given ${this.#given}`);
  }

  #lastBegun(): Handling | undefined {
    return [...this.#works.values()].findLast(({ hasBegun }) => hasBegun)?.handling;
  }

  /** As in a thread: an error that nobody caught ends an actor that is at work, or is a warning. */
  #noteStray(error: Error): void {
    const cell = this.#cell;
    cell.thread.log.error(cell.row.id, error);
    if (cell.inHand > 0) cell.crash(error, this.#lastBegun());
    else warnOfStray(cell.row.id, error);
  }
}

const NOT_STARTED: ProcessEnd = { reason: 'it did not start', isCharged: true };
const OVER: ProcessEnd = { reason: 'its life is over', isCharged: false };

/** What the code may be given to do ahead, milliseconds of it, and in envelopes. */
const AHEAD_MS = 2;
const MAX_AHEAD = 64;
/** How quickly the mean follows. */
const SHARE = 0.2;

/** How quickly a process goes through its envelopes, as a decayed mean of what each took; unknown before the first. */
class Pace {
  #meanMs = Number.POSITIVE_INFINITY;
  #lastDoneAtMs = 0;

  /** An envelope that was given then is done now; before the last one was, its turn had not come. */
  done(givenAtMs: number, nowMs: number): void {
    const tookMs = nowMs - Math.max(givenAtMs, this.#lastDoneAtMs);
    this.#lastDoneAtMs = nowMs;
    if (this.#meanMs === Number.POSITIVE_INFINITY) this.#meanMs = tookMs;
    else this.#meanMs += (tookMs - this.#meanMs) * SHARE;
  }

  /** How many it may be given ahead: what it does in a moment. */
  get ahead(): number {
    return Math.min(MAX_AHEAD, Math.floor(AHEAD_MS / this.#meanMs));
  }
}
