import type { Artifact, Task, TaskChange, TaskMessage } from '../../runtime/protocol/task.ts';
import type { ViewOptions } from '../../runtime/protocol/task-service.ts';

/** A task as its changes make it. A chunk costs what the chunk holds, however much there is already. */
export class TaskView {
  readonly id: string;
  readonly contextId: string;
  readonly createdAtMs: number;
  readonly #metadata: Task['metadata'];
  readonly #history: TaskMessage[] = [];
  readonly #artifacts = new Map<string, Artifact>();
  /** The ids of those artifacts that are of their own, rather than of one change. */
  #grown: Set<string> | undefined;
  #status: Task['status'];
  /** What its agent said with the status, until something follows. */
  #last: TaskMessage | undefined;
  #generation = 0;

  constructor({
    id,
    contextId,
    createdAtMs,
    metadata,
  }: Pick<Task, 'id' | 'contextId' | 'createdAtMs' | 'metadata'>) {
    this.id = id;
    this.contextId = contextId;
    this.createdAtMs = createdAtMs;
    this.#metadata = metadata;
    this.#status = { state: 'submitted', atMs: createdAtMs };
  }

  get status(): Task['status'] {
    return this.#status;
  }

  get generation(): number {
    return this.#generation;
  }

  get history(): readonly TaskMessage[] {
    return this.#history;
  }

  apply(change: TaskChange): void {
    this.#generation = change.generation;
    switch (change.kind) {
      case 'status': {
        const { state, message, atMs } = change;
        this.#remember();
        this.#status = { state, atMs, ...(message === undefined ? {} : { message }) };
        this.#last = message;
        return;
      }
      case 'message':
        this.#remember();
        this.#history.push(change.message);
        return;
      case 'artifact':
        this.#add(change.artifact, change.append);
        return;
    }
  }

  /** The task as it is now; what changes later does not show in it. */
  read({ historyLength, artifacts = true }: ViewOptions = {}): Task {
    const history = historyLength === undefined ? this.#history : newest(this.#history, historyLength);
    return {
      id: this.id,
      contextId: this.contextId,
      status: this.#status,
      artifacts: artifacts
        ? [...this.#artifacts.values()].map((one) => ({ ...one, parts: [...one.parts] }))
        : [],
      history: [...history],
      generation: this.#generation,
      createdAtMs: this.createdAtMs,
      ...(this.#metadata === undefined ? {} : { metadata: this.#metadata }),
    };
  }

  /** What its agent said last belongs to the conversation as soon as that goes on. */
  #remember(): void {
    if (this.#last !== undefined) this.#history.push(this.#last);
    this.#last = undefined;
  }

  /** A chunk is never added to what a change holds: a first chunk is shared with its change until another one follows. */
  #add(artifact: Artifact, append: boolean): void {
    const { artifactId } = artifact;
    const known = append ? this.#artifacts.get(artifactId) : undefined;
    if (known === undefined) {
      this.#grown?.delete(artifactId);
      this.#artifacts.set(artifactId, artifact);
    } else if (this.#grown?.has(artifactId) === true) known.parts.push(...artifact.parts);
    else {
      this.#artifacts.set(artifactId, { ...known, parts: [...known.parts, ...artifact.parts] });
      this.#grown ??= new Set();
      this.#grown.add(artifactId);
    }
  }
}

const newest = <One>(all: readonly One[], count: number): readonly One[] =>
  count === 0 ? [] : all.slice(-count);
