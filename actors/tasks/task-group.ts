import type { LiveTask } from './live-task.ts';
import { TouchOrder } from './task-order.ts';

/** Tasks that count together towards a limit: how many, about how many bytes, and those of them that are over. */
export class TaskGroup {
  /** The one that has been over for longest first; what is over does not grow. */
  readonly #over = new TouchOrder<LiveTask>();
  #size = 0;
  #bytes = 0;
  #overBytes = 0;

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How many are not over: those cannot make room. */
  get openSize(): number {
    return this.#size - this.#over.size;
  }

  get openBytes(): number {
    return this.#bytes - this.#overBytes;
  }

  get oldestOver(): LiveTask | undefined {
    return this.#over.oldest();
  }

  add({ bytes }: LiveTask): void {
    this.#size += 1;
    this.#bytes += bytes;
  }

  /** One of them has so many bytes more. */
  grew(bytes: number): void {
    this.#bytes += bytes;
  }

  /** One of them is over from now on; `turn` is greater than that of any before. */
  ended(task: LiveTask, turn: number): void {
    if (!this.#over.has(task)) this.#overBytes += task.bytes;
    this.#over.touch(task, turn);
  }

  remove(task: LiveTask): void {
    this.#size -= 1;
    this.#bytes -= task.bytes;
    if (this.#over.has(task)) this.#overBytes -= task.bytes;
    this.#over.remove(task);
  }
}
