import { partialMetadata } from '../../runtime/protocol/a2a-extension.ts';
import type { Cost } from '../../runtime/protocol/budget.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { mergeTaint, type Taint } from '../../runtime/protocol/taint.ts';
import type { Artifact, TaskMessage, Part } from '../../runtime/protocol/task.ts';
import type { Progress } from '../../runtime/public.ts';
import type { Json } from './task-log.ts';
import { TaskReport } from './task-of.ts';
import type { Turn } from './task-turns.ts';
import { type TurnMemo, isObject } from './turn-plan.ts';
import { notSerialisable } from '../../runtime/protocol/errors.ts';
import { findUnserialisable } from '../../runtime/protocol/json.ts';

export interface TurnReportsDeps {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly turn: Turn;
  /** The memo when the agent is asked. */
  readonly memo: TurnMemo;
}

/** Hears what an agent reports while it works at a task, whether it knows of tasks or not. */
export class TurnReports {
  readonly #turn: Turn;
  readonly #newId: () => string;
  readonly #sayer: ProgressSayer;
  #memo: TurnMemo;
  #cost: Required<Cost> | undefined;
  /** The taint of the reports. */
  #taint: Taint | undefined;
  /** How many reports came before the next one; some may not be known any more. */
  #dropped = 0;

  constructor({ clock, newId, turn, memo }: TurnReportsDeps) {
    this.#turn = turn;
    this.#newId = newId;
    this.#memo = memo;
    this.#sayer = new ProgressSayer({ clock, newId, say: (message) => turn.working(message) });
  }

  /** The memo now. */
  get memo(): TurnMemo {
    return this.#memo;
  }

  /** The taint of the reports so far. */
  get taint(): Taint | undefined {
    return this.#taint;
  }

  /** Called with each progress report of the agent. */
  readonly hear = (progress: Progress): void => {
    const { partial, report, dropped } = progress;
    if (dropped !== undefined) this.#dropped = dropped;
    else if (report !== undefined) this.#take(report);
    else if (partial !== undefined) this.partial(partial);
    else this.#sayer.tell(progress);
  };

  /** Called when the next report is tainted. */
  readonly tainted = (taint: Taint): void => {
    this.#taint = mergeTaint(this.#taint, taint);
  };

  /** What was spent on it, if that was limited. */
  get cost(): Required<Cost> | undefined {
    return this.#cost;
  }

  readonly spent = (cost: Required<Cost>): void => {
    this.#cost = cost;
  };

  /** Notes a partial result, which is shown if the task ends without another. */
  partial(partial: unknown): void {
    const artifact = partialOf(this.#turn.number, partial);
    if (artifact !== undefined) this.#turn.partial(artifact);
  }

  /** Shows the last progress before the turn ends. */
  end(): void {
    this.#sayer.end();
  }

  #take(report: unknown): void {
    const parsed = TaskReport.safeParse(report);
    if (!parsed.success) return;
    const { run, n, say, artifact, state, usedApproval } = parsed.data.task;
    const turn = this.#memo.turn ?? { number: this.#turn.number, reports: 0 };
    // Reports that come again are skipped. Another attempt has another run, and begins anew.
    const heard = turn.run === run ? turn.reports : 0;
    const isGap = n > heard + 1 && n === this.#dropped + 1;
    if (n !== heard + 1 && !isGap) return;
    if (isGap)
      this.#turn.working(this.#said([{ text: `${n - 1 - heard} reports were too much to be kept` }]));
    if (say !== undefined) this.#turn.working(this.#said(say));
    if (artifact !== undefined) {
      const { append, lastChunk, ...made } = artifact;
      this.#turn.artifact(made as Artifact, { append, lastChunk });
    }
    const { approvals } = this.#memo;
    this.#memo = {
      ...this.#memo,
      ...(state === undefined ? {} : this.#kept(state)),
      approvals: approvals.filter(({ approvalId }) => approvalId !== usedApproval),
      turn: { ...turn, run, reports: n },
    };
    this.#turn.remember(this.#memo as Json);
  }

  /** The state for the next turn, with its taint. */
  #kept(state: Json): Pick<TurnMemo, 'state' | 'taint'> {
    const taint = mergeTaint(this.#memo.taint, this.#taint);
    return { state, ...(taint && { taint: [...taint] }) };
  }

  #said(parts: TaskMessage['parts']): TaskMessage {
    return { messageId: this.#newId(), role: 'agent', parts };
  }
}

/** A partial result as an artifact of its own; undefined for what nobody could be shown. */
function partialOf(number: number, partial: unknown): Artifact | undefined {
  try {
    const metadata = partialMetadata();
    return { artifactId: `partial-${number}`, name: 'partial', parts: partsOf(partial), metadata };
  } catch {
    return undefined;
  }
}

const BYTES = 'application/octet-stream';

/**
 * What an agent has answered, as the parts of an artifact: text, bytes (`Uint8Array`, or `{bytes, mediaType, filename?}`
 * with bytes or base 64), or data. None for undefined. Throws NOT_SERIALISABLE for what is none of these.
 */
export function partsOf(output: unknown): Part[] {
  if (output === undefined) return [];
  if (typeof output === 'string') return [{ text: output }];
  if (output instanceof Uint8Array) return [{ raw: base64(output), mediaType: BYTES }];
  const file = fileOf(output);
  if (file !== undefined) return [file];
  const fault = findUnserialisable(output, 'output');
  if (fault !== undefined) throw notSerialisable(fault.path, fault.kind);
  return [{ data: output as Json }];
}

function fileOf(output: unknown): Part | undefined {
  if (!isObject(output) || !Object.keys(output).every((key) => FILE.has(key))) return undefined;
  const { bytes, mediaType, filename } = output as {
    bytes?: unknown;
    mediaType?: unknown;
    filename?: unknown;
  };
  if (typeof mediaType !== 'string' || (filename !== undefined && typeof filename !== 'string'))
    return undefined;
  const raw = bytes instanceof Uint8Array ? base64(bytes) : bytes;
  if (typeof raw !== 'string' || !BASE64.test(raw)) return undefined;
  return { raw, mediaType, ...(filename === undefined ? {} : { filename }) };
}

const FILE: ReadonlySet<string> = new Set(['bytes', 'mediaType', 'filename']);
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const base64 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');

/** How long a chunk is held back, so that the last one can be marked as last. */
const HELD_MS = 10;
/** The parts of a last chunk that has nothing new. */
const NOTHING_MORE: Part[] = [{ text: '' }];

/**
 * Shows what a stream gives as one artifact, chunk by chunk, each as it comes; slow writes slow the stream. A stream that
 * gives nothing makes no artifact.
 */
export async function showStream(
  turn: Turn,
  chunks: AsyncIterable<unknown>,
  { artifactId, name, clock }: { readonly artifactId: string; readonly name: string; readonly clock: Clock },
): Promise<void> {
  let held: Part[] | undefined;
  let shown = 0;
  const show = (parts: Part[], lastChunk: boolean): void => {
    turn.artifact({ artifactId, name, parts }, { append: shown > 0, lastChunk });
    shown += 1;
    held = undefined;
  };
  const reading = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = reading.next();
      if (held !== undefined && !(await isSoon(clock, next))) show(held, false);
      const { done, value } = await next;
      if (done === true) break;
      if (held !== undefined) show(held, false);
      held = partsOf(value);
      await turn.whenKept();
    }
  } catch (error) {
    // What it gave before is shown.
    if (held !== undefined) show(held, false);
    throw error;
  } finally {
    await reading.return?.();
  }
  if (held !== undefined || shown > 0) show(held ?? NOTHING_MORE, true);
}

function isSoon(clock: Clock, next: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const stop = clock.setTimer(HELD_MS, () => resolve(false));
    const done = (): void => {
      stop();
      resolve(true);
    };
    next.then(done, done);
  });
}

/** How often progress is shown at most. */
const EVERY_MS = 250;

interface ProgressSayerDeps {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly say: (message: TaskMessage) => void;
}

/** Makes messages of an agent's progress, the last of each moment. */
class ProgressSayer {
  readonly #deps: ProgressSayerDeps;
  #lastAtMs = Number.NEGATIVE_INFINITY;
  #next: Progress | undefined;
  #stop: (() => void) | undefined;

  constructor(deps: ProgressSayerDeps) {
    this.#deps = deps;
  }

  tell(progress: Progress): void {
    this.#next = progress;
    if (this.#stop !== undefined) return;
    const waitMs = this.#lastAtMs + EVERY_MS - this.#deps.clock.monotonicMs();
    if (waitMs <= 0) this.#say();
    else this.#stop = this.#deps.clock.setTimer(waitMs, () => this.#say());
  }

  /** Shows the last message before the turn ends. */
  end(): void {
    this.#say();
  }

  #say(): void {
    this.#stop?.();
    this.#stop = undefined;
    const progress = this.#next;
    this.#next = undefined;
    if (progress === undefined) return;
    this.#lastAtMs = this.#deps.clock.monotonicMs();
    const { fraction, note } = progress;
    const text = note ?? `${Math.round(fraction * 100)} %`;
    const message = { messageId: this.#deps.newId(), role: 'agent' as const, parts: [{ text }] };
    this.#deps.say({ ...message, metadata: { progress: fraction } });
  }
}
