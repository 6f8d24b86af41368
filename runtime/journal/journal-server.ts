import { type ErrorData, errorFromData, errorToData } from '../protocol/errors.ts';
import type { Seams, EventLoop } from '../protocol/seams.ts';
import type { RecordChange, Store, StoreBatch } from '../protocol/store.ts';
import { BackOff } from '../protocol/back-off.ts';
import { backOffMs } from '../protocol/back-off-ms.ts';
import type { JournalMeasures } from '../observe/measures.ts';
import type { Port } from '../link/port.ts';
import { type Amount, charactersOf, type JournalAnswer, readUnit, type UnitMessage } from './unit-format.ts';
import { inOrder } from './unit-order.ts';

/** How long it waits before it tries again to write what could not be written. */
const BACK_OFF: BackOff = BackOff.parse({ firstMs: 50, maxMs: 2_000, jitter: 0.2 });

/** A commit ends with the unit that reaches any of these. */
const COMMIT_LIMITS: Readonly<Amount> = { units: 4_096, mails: 4_096, characters: 8 * 1_024 * 1_024 };

/** How long units that nobody waits for are held back, to be written with others. */
const PATIENCE_MS = 5;
const PATIENT_UNITS = 256;

export interface JournalServerDeps {
  readonly store: Store;
  readonly seams: Pick<Seams, 'clock' | 'random'>;
  readonly loop: Pick<EventLoop, 'yieldTurn'>;
  readonly limits?: Readonly<Amount>;
  /**
   * Called when the reason why the journal cannot write changes; undefined: it writes again.
   * The connections are told by themselves.
   */
  readonly onFailure?: (failure: ErrorData | undefined) => void;
}

interface Line {
  readonly port: Port;
  /** Whether the thread is gone, and all that it posted is here. */
  isEnded: boolean;
}

/** A wait for all units that were here at one moment. */
interface Waiter {
  readonly open: Set<Pending>;
  readonly done: () => void;
}

/** A unit that is here and not yet written. */
interface Pending {
  readonly line: Line;
  readonly order: number;
  readonly batch: StoreBatch;
}

/**
 * Writes what the connections post: everything that is there, in one step, while more comes (group commit). What nobody waits for
 * is written with something else, or a few milliseconds later: a sync costs the same for one row and for a thousand.
 *
 * What is written together is a causally closed cut. A thread posts its unit before anybody hears of what is in it, so the
 * causes of a unit are in their ports before it is in its own. The ports are therefore read round after round until one
 * whole round finds nothing: at the beginning of that round all that had been posted was here, and nothing else. In the
 * order of their numbers causes come first, so every beginning of that is closed too, and a commit can be bounded.
 *
 * When the store fails, exactly the same is written again until it succeeds. Nothing is dropped, nothing overtakes.
 */
export class JournalServer {
  readonly #deps: JournalServerDeps;
  readonly #limits: Readonly<Amount>;
  #lines: Line[] = [];
  #pending: Pending[] = [];
  /** The units that are being written. */
  #writing: readonly Pending[] = [];
  readonly #waiters = new Set<Waiter>();
  #failure: ErrorData | undefined;
  #isRunning = false;
  #isClosing = false;
  #isClosed = false;
  /** Whether a pending unit is awaited. */
  #isAwaited = false;
  /** Whether unawaited units have been held back long enough. */
  #isOverdue = false;
  #endPatience: (() => void) | undefined;
  /** Ends the wait before the next try. */
  #tryNow: (() => void) | undefined;
  #closed: Promise<void> | undefined;
  #onIdle: (() => void)[] = [];
  #commits = 0;
  #commitMs = 0;

  constructor(deps: JournalServerDeps) {
    this.#deps = deps;
    this.#limits = deps.limits ?? COMMIT_LIMITS;
  }

  /** Threads that may still write. */
  get lineCount(): number {
    return this.#lines.length;
  }

  get measures(): Omit<JournalMeasures, 'bytes'> {
    return {
      commits: this.#commits,
      commitMs: this.#commitMs,
      waiting: this.#writing.length + this.#pending.length,
      isFailing: this.#failure !== undefined,
    };
  }

  /** Adds a thread's connection. When the thread is gone, what it posted is still written. */
  add(port: Port): void {
    const line: Line = { port, isEnded: false };
    this.#lines.push(line);
    port.onMessage((message) => {
      this.#take(line, message);
      this.#wake();
    });
    port.onClose(() => {
      line.isEnded = true;
      this.#wake();
    });
    if (this.#failure !== undefined) post(line, { failure: this.#failure });
  }

  /**
   * Writes everything that has been posted, and closes the store. When the store fails at that it is tried once more;
   * then this rejects with the reason: what was not written nobody was told of.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Resolves when everything that has been posted so far is written. */
  whenWritten(): Promise<void> {
    this.#readAll();
    const open = new Set([...this.#writing, ...this.#pending]);
    if (open.size === 0) return Promise.resolve();
    const written = new Promise<void>((done) => this.#waiters.add({ open, done }));
    this.#wake();
    return written;
  }

  /** The changes of records that were posted and may not be written yet, causes first. */
  unwritten(): RecordChange[] {
    while (this.#readAll()) {
      // Until a whole round finds nothing.
    }
    this.#sortPending();
    const changes = [...this.#writing, ...this.#pending].flatMap(({ batch }) => batch.records);
    // What was read here comes as no message any more.
    this.#wake();
    return changes;
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    this.#tryNow?.();
    this.#wake();
    if (this.#isRunning) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
    this.#isClosed = true;
    this.#endPatience?.();
    for (const { port } of this.#lines) port.close();
    this.#lines = [];
    await this.#deps.store.close();
    if (this.#failure !== undefined) throw errorFromData(this.#failure);
  }

  #wake(): void {
    if (this.#isRunning || this.#isClosed) return;
    this.#isRunning = true;
    void this.#run(); // It does not reject.
  }

  async #run(): Promise<void> {
    for (let cut = this.#cut(); cut.length > 0; cut = this.#cut()) {
      this.#writing = cut;
      const isWritten = await this.#commit(cut);
      this.#writing = [];
      if (!isWritten) break;
      // New lines and the ends of others come as events.
      await new Promise<void>((resolve) => this.#deps.loop.yieldTurn(resolve));
    }
    this.#isRunning = false;
    for (const tell of this.#onIdle.splice(0)) tell();
  }

  /** Takes the units to be written next, causes first. */
  #cut(): readonly Pending[] {
    while (this.#readAll()) {
      // Until a whole round finds nothing.
    }
    this.#lines = this.#lines.filter(({ isEnded }) => !isEnded);
    if (!this.#isDue) {
      this.#awaitCompany();
      return [];
    }
    this.#sortPending();
    return this.#takePending();
  }

  #sortPending(): void {
    this.#pending.sort((one, other) => inOrder(one.order, other.order));
  }

  /** Whether something must be written now. */
  get #isDue(): boolean {
    const { length } = this.#pending;
    if (this.#isAwaited || this.#isOverdue || length >= PATIENT_UNITS) return true;
    return length > 0 && (this.#isClosing || this.#waiters.size > 0);
  }

  #awaitCompany(): void {
    if (this.#pending.length === 0) return;
    this.#endPatience ??= this.#deps.seams.clock.setTimer(PATIENCE_MS, () => {
      this.#endPatience = undefined;
      this.#isOverdue = this.#pending.length > 0;
      this.#wake();
    });
  }

  /** As many of what is pending as one commit may hold. */
  #takePending(): readonly Pending[] {
    this.#isOverdue = false;
    const cut = this.#pending.splice(0, countWithin(this.#pending, this.#limits));
    this.#isAwaited = this.#pending.length > 0;
    return cut;
  }

  #readAll(): boolean {
    let found = false;
    for (const line of this.#lines) {
      for (let next = line.port.take(); next !== undefined; next = line.port.take()) {
        this.#take(line, next.message);
        found = true;
      }
    }
    return found;
  }

  #take(line: Line, message: unknown): void {
    const { order, isAwaited, batch } = readUnit(message as UnitMessage);
    this.#pending.push({ line, order, batch });
    this.#isAwaited ||= isAwaited;
  }

  /** Commits; false when it could not be written and the journal closes. */
  async #commit(cut: readonly Pending[]): Promise<boolean> {
    const firstMails = await this.#write(cut.map(({ batch }) => batch));
    if (firstMails === undefined) return false;
    const answers = new Map<Line, number[]>();
    for (let at = 0; at < cut.length; at++) {
      const { line } = cut[at] as Pending;
      const answer = answers.get(line);
      if (answer === undefined) answers.set(line, [firstMails[at] as number]);
      else answer.push(firstMails[at] as number);
    }
    for (const [line, answer] of answers) post(line, answer);
    this.#tellWaiters(cut);
    return true;
  }

  #tellWaiters(written: readonly Pending[]): void {
    for (const waiter of this.#waiters) {
      for (const unit of written) waiter.open.delete(unit);
      if (waiter.open.size > 0) continue;
      this.#waiters.delete(waiter);
      waiter.done();
    }
  }

  async #write(batches: readonly StoreBatch[]): Promise<readonly number[] | undefined> {
    for (let tries = 1; ; tries++) {
      const isLast = this.#isClosing;
      try {
        const beganMs = this.#deps.seams.clock.monotonicMs();
        const firstMails = await this.#deps.store.write(batches);
        this.#commits += 1;
        this.#commitMs += this.#deps.seams.clock.monotonicMs() - beganMs;
        this.#tell(undefined);
        return firstMails;
      } catch (error) {
        this.#tell(errorToData(error, 'STORE_FAILED'));
      }
      if (isLast) return undefined;
      await this.#pause(backOffMs(BACK_OFF, tries, this.#deps.seams.random));
    }
  }

  /** Not when the journal is being closed. */
  async #pause(ms: number): Promise<void> {
    if (this.#isClosing) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#deps.seams.clock.setTimer(ms, resolve);
      this.#tryNow = () => {
        cancel();
        resolve();
      };
    });
    this.#tryNow = undefined;
  }

  #tell(failure: ErrorData | undefined): void {
    if (failure?.message === this.#failure?.message) return;
    this.#failure = failure;
    for (const line of this.#lines) post(line, { failure: failure ?? null });
    this.#deps.onFailure?.(failure);
  }
}

/** How many units of the front make a commit: at least one, if there is one. */
function countWithin(pending: readonly Pending[], limits: Readonly<Amount>): number {
  let mails = 0;
  let characters = 0;
  for (let at = 0; at < pending.length; at++) {
    const { batch } = pending[at] as Pending;
    mails += batch.mails.length;
    characters += charactersOf(batch);
    if (at + 1 >= limits.units || mails >= limits.mails || characters >= limits.characters) return at + 1;
  }
  return pending.length;
}

function post({ port, isEnded }: Line, answer: JournalAnswer): void {
  if (!isEnded) port.post(answer);
}
