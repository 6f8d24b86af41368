import { Fifo } from '../mailbox/fifo.ts';
import type { Lane } from '../mailbox/mail.ts';
import { sendAway, type WaitingSend } from '../mailbox/waiting-send.ts';
import { systemStopped } from '../protocol/errors.ts';
import type { Clock } from '../protocol/seams.ts';
import type { AgentRow } from '../protocol/agent-row.ts';

/** Whoever waits for room is called when there is; this is for deadlines, signals, and a thread that died meanwhile. */
const POLL_MS = 20;

/** `want` asks the recipient's thread to say when there may be room. */
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

/** Senders of one thread that wait for room in full mailboxes: a queue a mailbox, served first come, first served. */
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

  /** Says whether somebody waits already: whoever comes later waits behind. */
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
    // It may have got room before its thread could know that somebody wants it.
    this.#deps.want(row);
    if (this.#deps.hasRoom(row, lane)) this.wake();
  }

  /** Mail was settled somewhere: lets as many go as there is room for. */
  wake(): void {
    if (this.#queues.size === 0 || this.#isServing) return;
    this.#isServing = true;
    for (const [key, queue] of this.#queues) {
      this.#serve(queue);
      if (queue.waiters.length === 0) this.#queues.delete(key);
    }
    this.#isServing = false;
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
    const { hasRoom, want } = this.#deps;
    do {
      while (waiters.length > 0 && hasRoom(row, lane)) waiters.shift()?.go();
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

const keyOf = ({ id }: AgentRow, lane: Lane): string => `${lane} ${id}`;

const stopped = (): Error => systemStopped('it waited for room in a mailbox');
