import { deadlineExceeded, systemStopped } from '../protocol/errors.ts';
import { MAX_TIMER_MS } from '../protocol/milliseconds.ts';
import type { Clock } from '../protocol/seams.ts';

/** A timer that was added to a wheel. Cancelling one that fired or was cancelled does nothing. */
export interface Timer {
  cancel(): void;
}

const TICK_MS = 20;
const SLOTS = 2_048;
const MASK = SLOTS - 1;

/** One timer and its place in a ring; also the head of each ring. A timer in no ring points at itself. */
class Node implements Timer {
  next: Node;
  previous: Node;
  readonly tick: number;
  readonly fire: (subject: never) => void;
  readonly subject: unknown;

  constructor(tick: number, fire: (subject: never) => void, subject: unknown) {
    this.next = this;
    this.previous = this;
    this.tick = tick;
    this.fire = fire;
    this.subject = subject;
  }

  cancel(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
    this.next = this;
    this.previous = this;
  }
}

/**
 * Timers by the hundred thousand, most of which are cancelled: every ask's deadline is one.
 *
 * A timer fires in the first tick of 20 ms that starts at or after its time: never early, less than a tick late. Adding
 * and cancelling cost constant time and one object. The wheel sleeps on one timer of the clock, set for the next tick
 * that is occupied; an emptied wheel wakes once more at most. After a hashed wheel (Varghese and Lauck, scheme 6) with
 * a ring of its own for what lies beyond the 41 s that the wheel spans.
 */
export class TimerWheel {
  readonly #clock: Clock;
  readonly #slots: (Node | undefined)[] = new Array(SLOTS).fill(undefined);
  readonly #far = ring();
  // Every tick up to this one has fired. The wheel holds the ticks after it, one to a slot.
  #tick: number;
  // At most the tick of the first far timer.
  #farTick = Number.POSITIVE_INFINITY;
  #wakeTick = Number.POSITIVE_INFINITY;
  #cancelWake: (() => void) | undefined;
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#tick = this.#nowTick();
  }

  /**
   * Calls `fire`, with `subject`, at `atMs` (Unix milliseconds) or in the next tick if that has passed.
   *
   * A `subject` lets one function serve all timers, so that none needs a closure. Throws SYSTEM_STOPPED once closed.
   */
  add(atMs: number, fire: () => void): Timer;
  add<Subject>(atMs: number, fire: (subject: Subject) => void, subject: Subject): Timer;
  add(atMs: number, fire: (subject: never) => void, subject?: unknown): Timer {
    if (this.#isClosed) throw systemStopped('its timers are closed');
    const dueTick = Math.ceil(atMs / TICK_MS);
    if (dueTick - this.#tick >= SLOTS) this.#catchUp();
    const tick = Math.max(dueTick, this.#tick + 1);
    const node = new Node(tick, fire, subject);
    if (tick - this.#tick < SLOTS) this.#link(node);
    else this.#linkFar(node);
    if (tick < this.#wakeTick) this.#sleepUntil(tick);
    return node;
  }

  /** The outcome of `work`. Rejects with DEADLINE_EXCEEDED after `timeoutMs`; `what` names the work. */
  within<Value>(work: Promise<Value>, timeoutMs: number, what: string): Promise<Value> {
    return new Promise((resolve, reject) => {
      const timer = this.add(this.#clock.now() + timeoutMs, () => reject(deadlineExceeded(what, timeoutMs)));
      work.then(resolve, reject).finally(() => timer.cancel());
    });
  }

  /** Forgets every timer; none fires any more. */
  close(): void {
    this.#isClosed = true;
    this.#cancelWake?.();
    this.#cancelWake = undefined;
    this.#slots.fill(undefined);
    this.#far.cancel();
  }

  #link(node: Node): void {
    const slot = node.tick & MASK;
    this.#slots[slot] ??= ring();
    append(this.#slots[slot], node);
  }

  #linkFar(node: Node): void {
    append(this.#far, node);
    this.#farTick = Math.min(this.#farTick, node.tick);
  }

  /** Moves the wheel on to now, as far as nothing is due: while it sleeps it falls behind the clock. */
  #catchUp(): void {
    this.#tick = Math.max(this.#tick, Math.min(this.#nowTick(), this.#wakeTick - 1));
  }

  #wake(): void {
    // Awake, no timer that a `fire` adds needs another wake-up.
    this.#wakeTick = Number.NEGATIVE_INFINITY;
    this.#cancelWake = undefined;
    const errors: unknown[] = [];
    // The clock may wake us a little early; then nothing is due and the wheel sleeps again.
    const nowTick = this.#nowTick();
    let tick = this.#nextTick();
    while (tick <= nowTick && !this.#isClosed) {
      this.#tick = tick - 1;
      this.#pullNear();
      this.#tick = tick;
      this.#fireSlot(tick & MASK, errors);
      tick = this.#nextTick();
    }
    if (!this.#isClosed) {
      this.#tick = Math.max(this.#tick, nowTick);
      this.#sleepUntil(tick);
    }
    if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors);
  }

  /** What `fire` throws must not keep the timers behind it from firing; it is thrown when all are done. */
  #fireSlot(slot: number, errors: unknown[]): void {
    const head = this.#slots[slot];
    if (head === undefined) return;
    for (let node = head.next; node !== head && !this.#isClosed; node = head.next) {
      node.cancel();
      try {
        node.fire(node.subject as never);
      } catch (error) {
        errors.push(error);
      }
    }
  }

  /** Moves far timers that the wheel spans by now into it. Half a turn ahead, so that the walk is a rare one. */
  #pullNear(): void {
    if (this.#farTick - this.#tick > SLOTS / 2) return;
    this.#farTick = Number.POSITIVE_INFINITY;
    for (let node = this.#far.next; node !== this.#far; ) {
      const { next } = node;
      if (node.tick - this.#tick < SLOTS) {
        node.cancel();
        this.#link(node);
      } else {
        this.#farTick = Math.min(this.#farTick, node.tick);
      }
      node = next;
    }
  }

  /** The next occupied tick; infinite when the wheel is empty. */
  #nextTick(): number {
    for (let tick = this.#tick + 1; tick < this.#tick + SLOTS; tick++) {
      const head = this.#slots[tick & MASK];
      if (head !== undefined && head.next !== head) return Math.min(tick, this.#farTick);
    }
    return this.#farTick;
  }

  #sleepUntil(tick: number): void {
    this.#cancelWake?.();
    this.#cancelWake = undefined;
    this.#wakeTick = tick;
    if (tick === Number.POSITIVE_INFINITY) return;
    const delayMs = Math.max(0, tick * TICK_MS - this.#clock.now());
    this.#cancelWake = this.#clock.setTimer(Math.min(delayMs, MAX_TIMER_MS), () => this.#wake());
  }

  #nowTick(): number {
    return Math.floor(this.#clock.now() / TICK_MS);
  }
}

const nothing = (): undefined => undefined;
const ring = (): Node => new Node(0, nothing, undefined);

function append(head: Node, node: Node): void {
  node.previous = head.previous;
  node.next = head;
  head.previous.next = node;
  head.previous = node;
}
