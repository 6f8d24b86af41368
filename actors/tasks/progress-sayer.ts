import type { Clock } from '../../runtime/protocol/seams.ts';
import type { TaskMessage } from '../../runtime/protocol/task.ts';
import type { Progress } from '../../runtime/public.ts';

/** Who reads along learns of progress so often at most. */
const EVERY_MS = 250;

export interface ProgressSayerDeps {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly say: (message: TaskMessage) => void;
}

/** Makes messages of an agent's progress, the last of each moment. */
export class ProgressSayer {
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

  /** What was told last is said before the turn ends. */
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
