import type { Port } from '../link/port.ts';
import type { Scheduler } from './scheduler.ts';
import type { VirtualThread } from './virtual-thread.ts';

/** What stands for a port in a message. */
export interface PortToken {
  readonly virtualPort: number;
}

interface Letter {
  readonly message: unknown;
  readonly atMs: number;
  readonly transfer: readonly unknown[];
}

/**
 * - `delayMs` how long a message takes from one thread to another.
 * - `portOf`  the port that a token stands for.
 */
export interface VirtualPortDeps {
  readonly scheduler: Scheduler;
  readonly delayMs: (from: VirtualThread, to: VirtualThread | undefined) => number;
  readonly portOf: (token: unknown) => VirtualPort | undefined;
}

/**
 * One end of a channel between two threads of a simulation. What is posted is a structured clone, as between real threads; it takes
 * a while, and keeps its order.
 */
export class VirtualPort implements Port {
  readonly token: PortToken;
  /** Whose end it is; nobody's while it is on its way. */
  owner: VirtualThread | undefined;
  peer: VirtualPort | undefined;
  isClosed = false;
  readonly #deps: VirtualPortDeps;
  readonly #inbox: Letter[] = [];
  #listener: ((message: unknown) => void) | undefined;
  #onClose: (() => void) | undefined;
  /** When the last message that is under way gets here. */
  #lastAtMs = 0;

  constructor(deps: VirtualPortDeps, number: number, owner: VirtualThread | undefined) {
    this.#deps = deps;
    this.token = { virtualPort: number };
    this.owner = owner;
  }

  post(message: unknown, transfer: readonly unknown[] = []): void {
    const { scheduler, portOf } = this.#deps;
    scheduler.mustBeInside();
    const { owner, peer } = this;
    // What cannot be cloned is the sender's error, whether or not anybody is there to get it.
    const copy = typeof message === 'string' ? message : structuredClone(message);
    if (this.isClosed || owner === undefined || owner.isOver || peer === undefined) return;
    for (const token of transfer) (portOf(token) as VirtualPort).owner = undefined;
    peer.#accept(copy, transfer, owner);
  }

  /** What is posted is here at once for whoever looks; it is the event of its arrival that takes a while. */
  take(): { message: unknown } | undefined {
    const first = this.#inbox.shift();
    return first === undefined ? undefined : { message: first.message };
  }

  onMessage(listener: (message: unknown) => void): void {
    const isFirst = this.#listener === undefined;
    this.#listener = listener;
    if (isFirst) for (const letter of this.#inbox) this.#plan(letter);
  }

  onClose(listener: () => void): void {
    this.#onClose = listener;
  }

  /** Nothing here keeps a process alive. */
  hold(): void {}

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const { peer } = this;
    this.#forgetInbox();
    if (peer !== undefined) peer.#peerClosed();
  }

  /** Delivers what is here or on its way, at once: its sender is gone. */
  drain(): void {
    for (const { message } of this.#inbox.splice(0)) this.#listener?.(message);
  }

  #accept(message: unknown, transfer: readonly unknown[], from: VirtualThread): void {
    const delayMs = this.#deps.delayMs(from, this.owner);
    const letter = { message, atMs: Math.max(this.#lastAtMs, from.localMs + delayMs), transfer };
    this.#lastAtMs = letter.atMs;
    if (this.isClosed || this.owner?.isOver === true) {
      this.#lose(letter);
      return;
    }
    this.#inbox.push(letter);
    if (this.#listener !== undefined) this.#plan(letter);
  }

  #plan({ atMs }: Letter): void {
    const { owner } = this;
    if (owner === undefined) return;
    this.#deps.scheduler.schedule(owner, Math.max(atMs, this.#deps.scheduler.nowMs), () => this.#deliver());
  }

  #deliver(): void {
    if (this.isClosed) return;
    const letter = this.#inbox.shift();
    if (letter !== undefined) this.#listener?.(letter.message);
  }

  /** Its other end is closed, or its thread is gone: told when everything that was under way is here. */
  #peerClosed(): void {
    const { scheduler } = this.#deps;
    const { owner } = this;
    if (this.isClosed || owner === undefined || owner.isOver) return;
    const atMs = Math.max(this.#lastAtMs, scheduler.nowMs);
    scheduler.schedule(owner, atMs, () => {
      if (this.isClosed) return;
      while (this.#inbox.length > 0) this.#deliver();
      this.isClosed = true;
      this.#onClose?.();
    });
  }

  #forgetInbox(): void {
    for (const letter of this.#inbox.splice(0)) this.#lose(letter);
  }

  /** Ports that were on their way to nobody are closed. */
  #lose({ transfer }: Letter): void {
    for (const token of transfer) this.#deps.portOf(token)?.close();
  }
}
