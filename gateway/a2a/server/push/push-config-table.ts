import type { TaskOwner } from '../../../../runtime/protocol/task-service.ts';
import type { PushRun } from './push-run.ts';

/** The configs of a gateway, by task in the order in which they were made. */
export class PushConfigTable {
  readonly #byTask = new Map<string, Map<string, PushRun>>();
  readonly #ofOwner = new Map<string, number>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  countOf(owner: TaskOwner): number {
    return this.#ofOwner.get(ownerKey(owner)) ?? 0;
  }

  ofTask(taskId: string): readonly PushRun[] {
    return [...(this.#byTask.get(taskId)?.values() ?? [])];
  }

  find(taskId: string, id: string): PushRun | undefined {
    return this.#byTask.get(taskId)?.get(id);
  }

  /** Another one of the same task and id takes the place of the one before. */
  add(run: PushRun): void {
    const { config, owner } = run.record;
    const ofTask = this.#byTask.get(config.taskId) ?? new Map<string, PushRun>();
    if (!ofTask.has(config.id)) this.#count(owner, 1);
    ofTask.set(config.id, run);
    this.#byTask.set(config.taskId, ofTask);
  }

  remove({ record: { config, owner } }: PushRun): void {
    const ofTask = this.#byTask.get(config.taskId);
    if (ofTask?.delete(config.id) !== true) return;
    if (ofTask.size === 0) this.#byTask.delete(config.taskId);
    this.#count(owner, -1);
  }

  *[Symbol.iterator](): Iterator<PushRun> {
    for (const ofTask of this.#byTask.values()) yield* ofTask.values();
  }

  #count(owner: TaskOwner, by: 1 | -1): void {
    const key = ownerKey(owner);
    const count = (this.#ofOwner.get(key) ?? 0) + by;
    if (count === 0) this.#ofOwner.delete(key);
    else this.#ofOwner.set(key, count);
    this.#size += by;
  }
}

const ownerKey = ({ principalId, tenant }: TaskOwner): string =>
  JSON.stringify([tenant ?? null, principalId]);
