import { Fifo } from '../mailbox/fifo.ts';
import type { Lane } from '../mailbox/mail.ts';
import { letGo, sendAway, type WaitingSend } from '../mailbox/waiting-send.ts';
import { systemStopped } from '../protocol/errors.ts';
import type { Clock } from '../protocol/seams.ts';
import type { AgentRow } from '../protocol/agent-row.ts';

/** How often deadlines, signals and dead threads are looked for. Room itself is reported. */
const POLL_MS = 20;

/** `want` asks the recipient's thread to report when there may be room. */
export interface RoomWaitersDeps {
  readonly clock: Clock;
  readonly hasRoom: (row: AgentRow, lane: Lane) => boolean;
  readonly want: (row: AgentRow) => void;
}

interface Queue {
  readonly row: AgentRow;
  readonly lane: Lane;
  waiters: Fifo<WaitingSend>;
}

/** Senders of one thread that wait for room in full mailboxes. Each mailbox has a queue, served in order of arrival. */
export class RoomWaiters {
  readonly #deps: RoomWaitersDeps;
  readonly #queues = new Map<string, Queue>();
  #stopPolling: (() => void) | undefined;
  #isServing = false;
  #isClosed = false;

  constructor(deps: RoomWaitersDeps) {
    this.#deps = deps;
  }

  /** Mailboxes that somebody waits for. */
  get size(): number {
    return this.#queues.size;
  }

  /** Says whether somebody waits already: later senders then queue behind. */
  isAwaited(row: AgentRow, lane: Lane): boolean {
    return this.#queues.size > 0 && this.#queues.has(keyOf(row, lane));
  }

  add(row: AgentRow, lane: Lane, waiter: WaitingSend): void {
    if (this.#isClosed) return waiter.fail(stopped());
    const key = keyOf(row, lane);
    const queue = this.#queues.get(key) ?? { row, lane, waiters: new Fifo<WaitingSend>() };
    queue.waiters.push(waiter);
    this.#queues.set(key, queue);
    this.#stopPolling ??= this.#deps.clock.setTimer(POLL_MS, () => this.#poll());
    // There may have been room before the recipient's thread could know that somebody waits.
    this.#deps.want(row);
    if (this.#deps.hasRoom(row, lane)) this.wake();
  }

  /** Lets as many senders go as there is room for: mail was settled somewhere. */
  wake(): void {
    if (this.#queues.size === 0 || this.#isServing) return;
    this.#isServing = true;
    try {
      for (const [key, queue] of this.#queues) {
        this.#serve(queue);
        if (queue.waiters.length === 0) this.#queues.delete(key);
      }
    } finally {
      this.#isServing = false;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#stopPolling?.();
    const queues = [...this.#queues.values()];
    this.#queues.clear();
    for (const { waiters } of queues) {
      for (let waiter = waiters.shift(); waiter !== undefined; waiter = waiters.shift())
        waiter.fail(stopped());
    }
  }

  #serve({ row, lane, waiters }: Queue): void {
    const { hasRoom, want, clock } = this.#deps;
    const nowMs = clock.now();
    do {
      while (waiters.length > 0 && hasRoom(row, lane)) letGo(waiters.shift() as WaitingSend, nowMs);
      if (waiters.length === 0) return;
      want(row);
    } while (hasRoom(row, lane));
  }

  #poll(): void {
    this.#stopPolling = undefined;
    const nowMs = this.#deps.clock.now();
    for (const queue of this.#queues.values()) {
      sendAway(queue.waiters, nowMs, (stay) => {
        queue.waiters = stay;
      });
    }
    this.wake();
    if (this.#queues.size > 0) this.#stopPolling = this.#deps.clock.setTimer(POLL_MS, () => this.#poll());
  }
}

/** An agent that comes back under its id has another mailbox. */
const keyOf = ({ slot }: AgentRow, lane: Lane): string => `${lane} ${slot}`;

const stopped = (): Error => systemStopped('it waited for room in a mailbox');
