import { isPartialArtifact, reportIn } from '../../runtime/protocol/a2a-extension.ts';
import type { Cost } from '../../runtime/protocol/budget.ts';
import { remoteFailed } from '../../runtime/protocol/edge-errors.ts';
import { cancelled, isOrreryError, type OrreryError } from '../../runtime/protocol/errors.ts';
import type {
  RemoteEvent,
  RemoteLink,
  RemoteStatus,
  RemoteTask,
  Saying,
} from '../../runtime/protocol/remote-agent.ts';
import { isRefusal } from '../../runtime/protocol/remote-codes.ts';
import {
  type Artifact,
  isTaskInterrupted,
  isTaskOver,
  type Part,
  type TaskMessage,
} from '../../runtime/protocol/task.ts';
import type { HandlingContext } from '../../runtime/public.ts';
import { taskOf } from '../tasks/task-of.ts';
import type { PendingCancels } from './pending-cancels.ts';
import { failureOf, questionOf } from './remote-failure.ts';
import { restOf, termsFor } from './remote-terms.ts';
import {
  answerParts,
  isNothing,
  partsFor,
  resultOf,
  textOf,
  valueOfPart,
  valueOfParts,
} from './remote-values.ts';

/** A partial result is kept so often at most: the whole of it is, each time. */
const CHECKPOINT_MS = 250;

export interface RemoteCallDeps {
  readonly link: RemoteLink;
  readonly skill: string;
  /** The system there is one of Orrery. */
  readonly isOrrery: boolean;
  readonly self: string;
  readonly maxBudget: Cost | undefined;
  readonly cancels: PendingCancels;
}

/** One request to an agent elsewhere, in the work of whoever has asked for it here: under its terms, and with its end. */
export class RemoteCall {
  readonly #deps: RemoteCallDeps;
  readonly #ctx: HandlingContext<never>;
  readonly #artifacts = new Map<string, Artifact>();
  #task: Pick<RemoteTask, 'id' | 'contextId'> | undefined;
  #status: RemoteStatus | undefined;
  #message: TaskMessage | undefined;
  #reserved: Cost = {};
  #spent: Cost | undefined;
  /** What is told first may be how a task stood before this turn of it. */
  #mayBeStale = false;
  #fraction = 0;
  #keptAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: RemoteCallDeps, ctx: HandlingContext<never>) {
    this.#deps = deps;
    this.#ctx = ctx;
  }

  /**
   * What the other one answers. Rejects with INPUT_REQUIRED when it asks for something (`details.a2a`, with an `answer`, is the
   * metadata of the ask that goes on), with what the terms or the other side refuse, REMOTE_UNREACHABLE and REMOTE_FAILED.
   */
  async value(input: unknown): Promise<unknown> {
    for await (const _ of this.#events(input));
    return this.#message === undefined
      ? resultOf(
          [...this.#artifacts.values()],
          isReport(this.#status?.message) ? undefined : this.#status?.message,
        )
      : valueOfParts(this.#message.parts);
  }

  /** What it gives, one value after the other. Fails as `value` does. */
  async *values(input: unknown): AsyncGenerator<unknown, void> {
    for await (const parts of this.#events(input))
      for (const part of parts) if (!isNothing(part)) yield valueOfPart(part);
    if (this.#message !== undefined) for (const part of this.#message.parts) yield valueOfPart(part);
  }

  /** The parts of its result, as they come. */
  async *#events(input: unknown): AsyncGenerator<readonly Part[], void> {
    const { link } = this.#deps;
    const saying = this.#saying(input);
    const stopping = new AbortController();
    const reading = link.stream(saying, { signal: stopping.signal });
    const aborted = abortOf(this.#ctx.signal);
    let pending: ReturnType<typeof reading.next> | undefined;
    let isOver = false;
    try {
      for (;;) {
        pending = reading.next();
        const next = await Promise.race([pending, aborted.promise]);
        if (next === undefined) throw cancelled(`What ${link.url.href} was asked for`);
        pending = undefined;
        if (next.done === true) break;
        yield this.#take(next.value);
      }
      isOver = true;
      this.#conclude();
    } catch (error) {
      if (this.#task === undefined && neverArrived(error)) this.#spent = {};
      throw error;
    } finally {
      aborted.end();
      isOver ||= this.#status !== undefined && isTaskOver(this.#status.state);
      const stop = (): void => stopping.abort();
      if (isOver) stop();
      else this.#deps.cancels.cancel(link, { taskId: this.#task?.id, pending, stop });
      this.#giveBack();
    }
  }

  #saying(input: unknown): Saying {
    const { skill, isOrrery } = this.#deps;
    const former = this.#former();
    this.#mayBeStale = former !== undefined;
    const parts =
      former === undefined
        ? partsFor(skill, input, isOrrery)
        : former.answer === undefined
          ? answerParts(input)
          : answerParts(former.answer);
    if (!isOrrery) return { parts, ...former?.task };
    const { order, reserved } = termsFor(this.#ctx, this.#deps);
    // All of it is theirs until they say what they have spent: so no sum of reservations is more than there is.
    this.#ctx.spend(reserved);
    this.#reserved = reserved;
    return { parts, delegation: order, ...former?.task };
  }

  /** The task there that this goes on with: as the asker says, or as the task here remembers. */
  #former():
    | { readonly task: { taskId: string; contextId?: string }; readonly answer?: unknown }
    | undefined {
    const named = this.#ctx.envelope.metadata?.['a2a'];
    const asked = taskNamed(named);
    if (asked !== undefined) return { task: asked, answer: (named as { answer?: unknown }).answer };
    const task = taskOf(this.#ctx);
    const kept = taskNamed((task?.state as { a2a?: unknown } | undefined)?.a2a);
    return kept === undefined || task?.answer === undefined ? undefined : { task: kept, answer: task.answer };
  }

  #take(event: RemoteEvent): readonly Part[] {
    if (event.kind === 'message') {
      this.#message = event.message;
      return [];
    }
    if (event.kind === 'task') {
      const { task } = event;
      this.#task = task;
      this.#hear(task.status, task.metadata);
      return task.artifacts.flatMap((artifact) => this.#takeArtifact(artifact, false));
    }
    this.#task ??= { id: event.taskId, contextId: event.contextId };
    if (event.kind === 'artifact') return this.#takeArtifact(event.artifact, event.append, event.lastChunk);
    this.#hear(event.status, event.metadata);
    return [];
  }

  #takeArtifact(artifact: Artifact, append: boolean, isLast = true): readonly Part[] {
    const { artifactId, parts } = artifact;
    const known = append ? this.#artifacts.get(artifactId) : undefined;
    if (known === undefined) this.#artifacts.set(artifactId, { ...artifact, parts: [...parts] });
    else for (const part of parts) known.parts.push(part);
    if (isPartialArtifact(artifact)) this.#keep(valueOfParts(parts));
    else if (!isLast) this.#keepSoFar();
    return isPartialArtifact(artifact) ? [] : parts;
  }

  #hear(status: RemoteStatus, metadata: RemoteTask['metadata']): void {
    this.#status = status;
    const { message } = status;
    const report = reportIn(message?.metadata) ?? reportIn(metadata);
    this.#takeSpent(status, report?.spent);
    if (report?.partial !== undefined) this.#keep(report.partial);
    if (status.state !== 'working' || message === undefined) return;
    const said = report?.progress?.fraction ?? message.metadata?.['progress'];
    if (typeof said === 'number' && said >= 0 && said <= 1) this.#fraction = said;
    this.#ctx.progress(this.#fraction, textOf(message));
  }

  /** Of this turn, and only when it is over: who still works still spends, and a former turn's is no part of this reservation. */
  #takeSpent({ state }: RemoteStatus, spent: Cost | undefined): void {
    const isFormer = this.#mayBeStale && isTaskInterrupted(state);
    this.#mayBeStale = false;
    if (isTaskOver(state) || (isTaskInterrupted(state) && !isFormer)) this.#spent = spent ?? this.#spent;
    else this.#spent = undefined;
  }

  #keepSoFar(): void {
    const nowMs = this.#ctx.now();
    if (nowMs - this.#keptAtMs < CHECKPOINT_MS) return;
    this.#keptAtMs = nowMs;
    this.#keep(resultOf([...this.#artifacts.values()], undefined));
  }

  #keep(partial: unknown): void {
    if (partial !== undefined) this.#ctx.checkpoint(partial);
  }

  /** Throws what the task's end means, unless that is a result. */
  #conclude(): void {
    const { link } = this.#deps;
    if (this.#message !== undefined) return;
    const [task, status] = [this.#task, this.#status];
    if (task === undefined || status === undefined)
      throw remoteFailed(link.url.href, 'it said nothing of a task');
    if (status.state === 'completed') return;
    const whole = { ...task, status, artifacts: [], history: [] };
    if (!isTaskInterrupted(status.state)) throw failureOf(whole, link.url.href);
    const question: OrreryError = questionOf(whole, this.#ctx.self, link.url.href);
    const here = taskOf(this.#ctx);
    // The next turn of the task here goes on with the one there.
    if (here !== undefined) here.state = { a2a: question.details['a2a'] } as never;
    throw question;
  }

  /** What the other side does not say that it has not spent counts as spent. */
  #giveBack(): void {
    const rest = this.#spent === undefined ? {} : restOf(this.#reserved, this.#spent);
    if (Object.keys(rest).length > 0) this.#ctx.refund(rest);
  }
}

/** It says what the work has cost, and not what has come of it. */
const isReport = (message: TaskMessage | undefined): boolean =>
  reportIn(message?.metadata)?.spent !== undefined;

/** Resolves to undefined when the signal aborts; `end` listens no longer. */
function abortOf(signal: AbortSignal): { readonly promise: Promise<undefined>; readonly end: () => void } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const abort = (): void => resolve(undefined);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return { promise, end: () => signal.removeEventListener('abort', abort) };
}

/** It was not begun there: nothing arrived, or the rules there refused it before anything was done. */
const neverArrived = (error: unknown): boolean =>
  isOrreryError(error) &&
  error.details['mayHaveArrived'] !== true &&
  (error.details['mayHaveArrived'] === false ||
    (isRefusal(error.code) && error.details['url'] !== undefined));

function taskNamed(value: unknown): { taskId: string; contextId?: string } | undefined {
  const { taskId, contextId } = (value ?? {}) as { taskId?: unknown; contextId?: unknown };
  if (typeof taskId !== 'string') return undefined;
  return { taskId, ...(typeof contextId === 'string' ? { contextId } : {}) };
}
