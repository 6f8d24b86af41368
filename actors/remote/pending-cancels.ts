import type { RemoteEvent, RemoteLink } from '../../runtime/protocol/remote-agent.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';

/** How long an agent elsewhere is given to say what its task is called, and to hear that nobody wants it any more. */
const CANCEL_MS = 5_000;

/**
 * What is to be cancelled.
 *
 * - `taskId`  undefined: it has not been said yet.
 * - `pending` what is being read, which may say it.
 * - `stop`    ends the reading.
 */
export interface Unwanted {
  readonly taskId: string | undefined;
  readonly pending: Promise<IteratorResult<RemoteEvent, void>> | undefined;
  readonly stop: () => void;
}

/** Cancels tasks elsewhere without anybody waiting for it: whoever was cancelled has little time left itself. */
export class PendingCancels {
  readonly #clock: Pick<Clock, 'setTimer'>;
  readonly #pending = new Set<Promise<unknown>>();

  constructor(clock: Pick<Clock, 'setTimer'>) {
    this.#clock = clock;
  }

  /** What fails is of no use to anybody: a deadline ends the work there as well. */
  cancel(link: RemoteLink, unwanted: Unwanted): void {
    const pending: Promise<unknown> = this.#cancel(link, unwanted)
      .catch(() => undefined)
      .finally(() => this.#pending.delete(pending));
    this.#pending.add(pending);
  }

  /** Resolves when all are through. */
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
