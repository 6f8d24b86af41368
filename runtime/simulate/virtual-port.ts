import type { Port } from '../link/port.ts';
import type { Scheduler } from './scheduler.ts';
import type { VirtualThread } from './virtual-thread.ts';

/** Stands for a port in a message. */
export interface PortToken {
  readonly virtualPort: number;
}

interface PostedMessage {
  readonly message: unknown;
  readonly atMs: number;
  readonly transfer: readonly unknown[];
}

/**
 * - `delayMs` time of a message between two threads, virtual milliseconds.
 * - `portOf`  the port of a token.
 */
export interface VirtualPortDeps {
  readonly scheduler: Scheduler;
  readonly delayMs: (from: VirtualThread, to: VirtualThread | undefined) => number;
  readonly portOf: (token: unknown) => VirtualPort | undefined;
}

/**
 * One end of a channel between two virtual threads. Messages are structured clones, as between real threads; they take time,
 * and keep their order.
 */
export class VirtualPort implements Port {
  readonly token: PortToken;
  /** The thread that has it; undefined while it is transferred. */
  owner: VirtualThread | undefined;
  peer: VirtualPort | undefined;
  isClosed = false;
  readonly #deps: VirtualPortDeps;
  readonly #inbox: PostedMessage[] = [];
  #listener: ((message: unknown) => void) | undefined;
  #onClose: (() => void) | undefined;
  /** When the last message under way arrives. */
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
    // Cloned first: an error about it is the sender's, even if nobody receives the message.
    const copy = typeof message === 'string' ? message : structuredClone(message);
    if (this.isClosed || owner === undefined || owner.isOver || peer === undefined) return;
    for (const token of transfer) (portOf(token) as VirtualPort).owner = undefined;
    peer.#accept(copy, transfer, owner);
  }

  /** Takes a message, which is visible at once. Only the event of its arrival takes time. */
  take(): { message: unknown } | undefined {
    const first = this.#inbox.shift();
    return first === undefined ? undefined : { message: first.message };
  }

  onMessage(listener: (message: unknown) => void): void {
    const isFirst = this.#listener === undefined;
    this.#listener = listener;
    if (isFirst) for (const posted of this.#inbox) this.#plan(posted);
  }

  onClose(listener: () => void): void {
    this.#onClose = listener;
  }

  /** Does nothing: virtual ports do not keep a process alive. */
  hold(): void {}

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const { peer } = this;
    this.#forgetInbox();
    if (peer !== undefined) peer.#peerClosed();
  }

  /** Delivers all messages at once, because the sender is gone. */
  drain(): void {
    for (const { message } of this.#inbox.splice(0)) this.#listener?.(message);
  }

  #accept(message: unknown, transfer: readonly unknown[], from: VirtualThread): void {
    const delayMs = this.#deps.delayMs(from, this.owner);
    const posted = { message, atMs: Math.max(this.#lastAtMs, from.localMs + delayMs), transfer };
    this.#lastAtMs = posted.atMs;
    if (this.isClosed || this.owner?.isOver === true) {
      this.#lose(posted);
      return;
    }
    this.#inbox.push(posted);
    if (this.#listener !== undefined) this.#plan(posted);
  }

  #plan({ atMs }: PostedMessage): void {
    const { owner } = this;
    if (owner === undefined) return;
    this.#deps.scheduler.schedule(owner, Math.max(atMs, this.#deps.scheduler.nowMs), () => this.#deliver());
  }

  #deliver(): void {
    if (this.isClosed) return;
    const posted = this.#inbox.shift();
    if (posted !== undefined) this.#listener?.(posted.message);
  }

  /** Closes this end, once everything under way has arrived. */
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
    for (const posted of this.#inbox.splice(0)) this.#lose(posted);
  }

  /** Closes the ports in a message that nobody receives. */
  #lose({ transfer }: PostedMessage): void {
    for (const token of transfer) this.#deps.portOf(token)?.close();
  }
}
