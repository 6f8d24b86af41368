import { isPartialArtifact, reportIn } from '../../runtime/protocol/a2a-extension.ts';
import { type Cost, restOf } from '../../runtime/protocol/budget.ts';
import { remoteFailed } from '../../runtime/protocol/edge-errors.ts';
import { cancelled, isOrreryError, type OrreryError } from '../../runtime/protocol/errors.ts';
import type {
  RemoteEvent,
  RemoteLink,
  RemoteStatus,
  RemoteTask,
  RemoteMessage,
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
import { termsFor } from './remote-terms.ts';
import {
  answerParts,
  isNothing,
  partsFor,
  resultOf,
  textOf,
  valueOfPart,
  valueOfParts,
} from './remote-values.ts';

/** Shortest interval of checkpoints, milliseconds: each holds the whole partial result. */
const CHECKPOINT_MS = 250;

export interface RemoteCallDeps {
  readonly link: RemoteLink;
  readonly skill: string;
  /** Whether the system there is Orrery too. */
  readonly isOrrery: boolean;
  readonly self: string;
  readonly maxBudget: Cost | undefined;
  readonly cancels: PendingCancels;
}

/** One request to a remote agent, under the terms of the request here. It ends when that does. */
export class RemoteCall {
  readonly #deps: RemoteCallDeps;
  readonly #ctx: HandlingContext<never>;
  readonly #artifacts = new Map<string, Artifact>();
  #task: Pick<RemoteTask, 'id' | 'contextId'> | undefined;
  #status: RemoteStatus | undefined;
  #message: TaskMessage | undefined;
  #reserved: Cost = {};
  #spent: Cost | undefined;
  /** The first status may be of the task's former turn. */
  #mayBeStale = false;
  #fraction = 0;
  #checkpointAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: RemoteCallDeps, ctx: HandlingContext<never>) {
    this.#deps = deps;
    this.#ctx = ctx;
  }

  /**
   * Resolves to the remote answer. Rejects with INPUT_REQUIRED if the agent asks for input: `details.a2a` plus `answer` is
   * the metadata of the ask that continues. Also rejects with REMOTE_UNREACHABLE, REMOTE_FAILED, and with the codes of terms
   * that are violated here or there.
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

  /** Yields the values of a stream. Fails as `value` does. */
  async *values(input: unknown): AsyncGenerator<unknown, void> {
    for await (const parts of this.#events(input))
      for (const part of parts) if (!isNothing(part)) yield valueOfPart(part);
    if (this.#message !== undefined) for (const part of this.#message.parts) yield valueOfPart(part);
  }

  /** Yields the parts of the result, as they arrive. */
  async *#events(input: unknown): AsyncGenerator<readonly Part[], void> {
    const { link } = this.#deps;
    const request = this.#request(input);
    const stopping = new AbortController();
    const reading = link.stream(request, { signal: stopping.signal });
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
        yield this.#onEvent(next.value);
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

  #request(input: unknown): RemoteMessage {
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
    // The whole reservation counts as spent until they report, so that reservations never exceed the budget.
    this.#ctx.spend(reserved);
    this.#reserved = reserved;
    return { parts, delegation: order, ...former?.task };
  }

  /** The remote task that this request continues: as the asker names it, or as the task here remembers. */
  #former():
    | { readonly task: { taskId: string; contextId?: string }; readonly answer?: unknown }
    | undefined {
    const named = this.#ctx.envelope.metadata?.['a2a'];
    const asked = taskNamed(named);
    if (asked !== undefined) return { task: asked, answer: (named as { answer?: unknown }).answer };
    const task = taskOf(this.#ctx);
    const remembered = taskNamed((task?.state as { a2a?: unknown } | undefined)?.a2a);
    return remembered === undefined || task?.answer === undefined
      ? undefined
      : { task: remembered, answer: task.answer };
  }

  #onEvent(event: RemoteEvent): readonly Part[] {
    if (event.kind === 'message') {
      this.#message = event.message;
      return [];
    }
    if (event.kind === 'task') {
      const { task } = event;
      this.#task = task;
      this.#onStatus(task.status, task.metadata);
      return task.artifacts.flatMap((artifact) => this.#onArtifact(artifact, false));
    }
    this.#task ??= { id: event.taskId, contextId: event.contextId };
    if (event.kind === 'artifact') return this.#onArtifact(event.artifact, event.append, event.lastChunk);
    this.#onStatus(event.status, event.metadata);
    return [];
  }

  #onArtifact(artifact: Artifact, append: boolean, isLast = true): readonly Part[] {
    const { artifactId, parts } = artifact;
    const known = append ? this.#artifacts.get(artifactId) : undefined;
    if (known === undefined) this.#artifacts.set(artifactId, { ...artifact, parts: [...parts] });
    else for (const part of parts) known.parts.push(part);
    if (isPartialArtifact(artifact)) this.#checkpoint(valueOfParts(parts));
    else if (!isLast) this.#checkpointSoFar();
    return isPartialArtifact(artifact) ? [] : parts;
  }

  #onStatus(status: RemoteStatus, metadata: RemoteTask['metadata']): void {
    this.#status = status;
    const { message } = status;
    const report = reportIn(message?.metadata) ?? reportIn(metadata);
    this.#readSpent(status, report?.spent);
    if (report?.partial !== undefined) this.#checkpoint(report.partial);
    if (status.state !== 'working' || message === undefined) return;
    const said = report?.progress?.fraction ?? message.metadata?.['progress'];
    if (typeof said === 'number' && said >= 0 && said <= 1) this.#fraction = said;
    this.#ctx.progress(this.#fraction, textOf(message));
  }

  /** Reads what this turn has spent, once it has ended. A report of a former turn is not of this reservation. */
  #readSpent({ state }: RemoteStatus, spent: Cost | undefined): void {
    const isFormer = this.#mayBeStale && isTaskInterrupted(state);
    this.#mayBeStale = false;
    if (isTaskOver(state) || (isTaskInterrupted(state) && !isFormer)) this.#spent = spent ?? this.#spent;
    else this.#spent = undefined;
  }

  #checkpointSoFar(): void {
    const nowMs = this.#ctx.now();
    if (nowMs - this.#checkpointAtMs < CHECKPOINT_MS) return;
    this.#checkpointAtMs = nowMs;
    this.#checkpoint(resultOf([...this.#artifacts.values()], undefined));
  }

  #checkpoint(partial: unknown): void {
    if (partial !== undefined) this.#ctx.checkpoint(partial);
  }

  /** Throws the error for the task's end, unless it has completed. */
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
    // The next turn of the task here continues the remote one.
    if (here !== undefined) here.state = { a2a: question.details['a2a'] } as never;
    throw question;
  }

  /** Refunds the rest of the reservation. Without a report, all of it counts as spent. */
  #giveBack(): void {
    const rest = this.#spent === undefined ? {} : restOf(this.#reserved, this.#spent);
    if (Object.keys(rest).length > 0) this.#ctx.refund(rest);
  }
}

/** Whether a message is only a report of costs, so no result. */
const isReport = (message: TaskMessage | undefined): boolean =>
  reportIn(message?.metadata)?.spent !== undefined;

/** Resolves when the signal aborts; `end` removes the listener. */
function abortOf(signal: AbortSignal): { readonly promise: Promise<undefined>; readonly end: () => void } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const abort = (): void => resolve(undefined);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return { promise, end: () => signal.removeEventListener('abort', abort) };
}

/** Whether no work was done there: nothing arrived, or a rule refused it first. */
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
