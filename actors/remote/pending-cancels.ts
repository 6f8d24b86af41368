import type { RemoteEvent, RemoteLink } from '../../runtime/protocol/remote-agent.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';

/** How long a remote agent may take to name its task, and to answer the cancellation, milliseconds each. */
const CANCEL_MS = 5_000;

/**
 * A remote task to cancel.
 *
 * - `taskId`  undefined while it is not known.
 * - `pending` the read of the next event, which may name it.
 * - `stop`    ends the stream.
 */
export interface Unwanted {
  readonly taskId: string | undefined;
  readonly pending: Promise<IteratorResult<RemoteEvent, void>> | undefined;
  readonly stop: () => void;
}

/** Cancels remote tasks in the background: a caller that was cancelled has little time left. */
export class PendingCancels {
  readonly #clock: Pick<Clock, 'setTimer'>;
  readonly #pending = new Set<Promise<unknown>>();

  constructor(clock: Pick<Clock, 'setTimer'>) {
    this.#clock = clock;
  }

  /** Cancels a task. Failures are ignored: the deadline ends the work there as well. */
  cancel(link: RemoteLink, unwanted: Unwanted): void {
    const pending: Promise<unknown> = this.#cancel(link, unwanted)
      .catch(() => undefined)
      .finally(() => this.#pending.delete(pending));
    this.#pending.add(pending);
  }

  /** Resolves when all cancellations have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }

  async #cancel(link: RemoteLink, { taskId, pending, stop }: Unwanted): Promise<void> {
    const stopTimer = this.#clock.setTimer(CANCEL_MS, stop);
    try {
      const begun = taskId ?? taskIdIn(await pending);
      stop();
      if (begun !== undefined) await link.cancel(begun, { timeoutMs: CANCEL_MS });
    } finally {
      stopTimer();
      stop();
      await pending?.catch(() => undefined);
    }
  }
}

function taskIdIn(next: IteratorResult<RemoteEvent, void> | undefined): string | undefined {
  const event = next?.value;
  if (event === undefined || event.kind === 'message') return undefined;
  return event.kind === 'task' ? event.task.id : event.taskId;
}
