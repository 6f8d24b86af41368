import { isDeepStrictEqual } from 'node:util';
import type { RemoteEvent, RemoteStatus, RemoteTask } from '../../../runtime/protocol/remote-agent.ts';
import { type Artifact, isTaskInterrupted, isTaskOver, type Part } from '../../../runtime/protocol/task.ts';

/**
 * A task as its reader has seen it, put together from events. After a stream was cut, it says what in a snapshot of the task is
 * new, so that the reader gets every part exactly once.
 */
export class TaskSeen {
  readonly #artifacts = new Map<string, Artifact>();
  #status: RemoteStatus | undefined;
  #taskId: string | undefined;
  #contextId: string | undefined;
  #history: RemoteTask['history'] = [];
  #metadata: RemoteTask['metadata'];

  get taskId(): string | undefined {
    return this.#taskId;
  }

  /** Whether the task is over, or waits for its owner. */
  get isIdle(): boolean {
    const state = this.#status?.state;
    return state !== undefined && (isTaskOver(state) || isTaskInterrupted(state));
  }

  /** The task as far as it was seen; undefined before the first event. */
  get task(): RemoteTask | undefined {
    if (this.#taskId === undefined || this.#status === undefined) return undefined;
    return {
      id: this.#taskId,
      contextId: this.#contextId,
      status: this.#status,
      artifacts: [...this.#artifacts.values()],
      history: this.#history,
      ...(this.#metadata === undefined ? {} : { metadata: this.#metadata }),
    };
  }

  /** Adds an event that the reader has got. */
  take(event: RemoteEvent): void {
    if (event.kind === 'message') return;
    if (event.kind === 'task') {
      this.#takeTask(event.task);
      return;
    }
    this.#taskId ??= event.taskId;
    this.#contextId ??= event.contextId;
    if (event.kind === 'status') {
      this.#status = event.status;
      if (event.metadata !== undefined) this.#metadata = { ...this.#metadata, ...event.metadata };
      return;
    }
    const { artifact, append } = event;
    const known = append ? this.#artifacts.get(artifact.artifactId) : undefined;
    // The list itself grows: copying it for every chunk would take quadratic time.
    if (known === undefined)
      this.#artifacts.set(artifact.artifactId, { ...artifact, parts: [...artifact.parts] });
    else for (const part of artifact.parts) known.parts.push(part);
    this.#status ??= { state: 'working' };
  }

  /** Events for all that the reader has not seen of this snapshot. Artifacts come before the status, which may be the last. */
  missing(task: RemoteTask): RemoteEvent[] {
    if (this.#taskId === undefined) return [{ kind: 'task', task }];
    const of = { taskId: task.id, contextId: task.contextId };
    const news: RemoteEvent[] = task.artifacts.flatMap((artifact) => {
      const more = this.#newParts(artifact);
      if (more === 'none') return [];
      const append = more !== 'all';
      const shown = append ? { ...artifact, parts: more } : artifact;
      return [{ kind: 'artifact' as const, ...of, artifact: shown, append, lastChunk: false }];
    });
    const isSame = this.#status !== undefined && isSameStatus(this.#status, task.status);
    if (!isSame) news.push({ kind: 'status', ...of, status: task.status, ...metadataOf(task) });
    return news;
  }

  /** Whether the artifact ends with the parts of this event: a server may repeat an event to a reader that lost the stream. */
  endsWith({ artifact: { artifactId, parts } }: Extract<RemoteEvent, { kind: 'artifact' }>): boolean {
    const seen = this.#artifacts.get(artifactId)?.parts ?? [];
    return seen.length >= parts.length && isDeepStrictEqual(seen.slice(seen.length - parts.length), parts);
  }

  /** Whether a snapshot holds all that was seen, so that it is not older. */
  isWithin({ artifacts }: RemoteTask): boolean {
    const shown = new Map(artifacts.map((artifact) => [artifact.artifactId, artifact.parts]));
    return [...this.#artifacts].every(
      ([artifactId, { parts }]) => parts.length <= (shown.get(artifactId)?.length ?? -1),
    );
  }

  #takeTask(task: RemoteTask): void {
    this.#taskId = task.id;
    this.#contextId = task.contextId;
    this.#status = task.status;
    this.#history = task.history;
    this.#metadata = task.metadata;
    this.#artifacts.clear();
    for (const artifact of task.artifacts)
      this.#artifacts.set(artifact.artifactId, { ...artifact, parts: [...artifact.parts] });
  }

  /** The parts after those seen; `all` if the seen ones differ: then it is another artifact with the same id. */
  #newParts({ artifactId, parts }: Artifact): Part[] | 'all' | 'none' {
    const seen = this.#artifacts.get(artifactId)?.parts;
    if (seen === undefined) return 'all';
    const isMore =
      seen.length <= parts.length && seen.every((part, at) => isDeepStrictEqual(part, parts[at]));
    if (!isMore) return 'all';
    return seen.length === parts.length ? 'none' : parts.slice(seen.length);
  }
}

const metadataOf = ({ metadata }: RemoteTask): { metadata?: NonNullable<RemoteTask['metadata']> } =>
  metadata === undefined ? {} : { metadata };

/** Whether two statuses are equal but for their time, which servers take differently. */
const isSameStatus = (one: RemoteStatus, other: RemoteStatus): boolean =>
  one.state === other.state && isDeepStrictEqual(one.message, other.message);
