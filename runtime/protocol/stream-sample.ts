import type { SystemEvent } from './system-event.ts';

/** Events are counted in windows of this length, milliseconds. */
const WINDOW_MS = 100;
const WINDOWS_A_SECOND = 1_000 / WINDOW_MS;
/** Of a burst that nobody expected, a window takes so many times its share. */
const BURST = 2;
/** As few as one conversation in so many is taken. */
const MAX_LEVEL = 20;
/** So many characters of a key tell conversations apart: names that are counted up differ in their last ones. */
const KEY_CHARS = 6;

/**
 * Chooses the events of a thread that are streamed, when there are more than listeners want: by conversation, so that what is
 * shown of one is all of it. Threads choose alike, for the same key is taken wherever as much is left out.
 *
 * What is left out is counted. It costs one comparison of a key an event, and no allocation.
 */
export class StreamSample {
  readonly #share: number;
  #windowEndMs = Number.NEGATIVE_INFINITY;
  #level = 0;
  #seen = 0;
  #taken = 0;
  #leftOut = 0;
  /** Events of chosen conversations in this window. */
  #chosen = 0;
  #takesAny = false;

  constructor(eventsPerSecond: number) {
    this.#share = Math.max(1, Math.floor(eventsPerSecond / WINDOWS_A_SECOND));
  }

  /** How many were left out and not told of yet. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Whether the event of this conversation at `atMs`, Unix milliseconds, is streamed; else it is counted. */
  takes(key: string, atMs: number): boolean {
    this.#goTo(atMs);
    this.#seen += 1;
    if (this.#level > 0 && !this.#takesAny) {
      if ((hashOf(key) & ((1 << this.#level) - 1)) !== 0) return this.#leave();
      this.#chosen += 1;
    }
    return this.#takeIfRoom();
  }

  /** The same for an event that is shown whatever its conversation, such as a dead letter. */
  takesRare(atMs: number): boolean {
    this.#goTo(atMs);
    return this.#takeIfRoom();
  }

  /** The same for an event, by its conversation or else by what it is about; `isRare`: it is shown whatever that is. */
  takesEvent(event: SystemEvent, isRare: boolean): boolean {
    const { type, correlationId, actorId, agentId, timestamp } = event;
    if (isRare) return this.takesRare(timestamp);
    return this.takes(correlationId ?? actorId ?? agentId ?? type, timestamp);
  }

  /** How many were left out since this was last called. */
  takeLeftOut(): number {
    const count = this.#leftOut;
    this.#leftOut = 0;
    return count;
  }

  #takeIfRoom(): boolean {
    if (this.#taken >= this.#share * BURST) return this.#leave();
    this.#taken += 1;
    return true;
  }

  #leave(): false {
    this.#leftOut += 1;
    return false;
  }

  #goTo(atMs: number): void {
    // A clock that was set back begins a window too.
    if (atMs < this.#windowEndMs && atMs >= this.#windowEndMs - WINDOW_MS) return;
    let level = 0;
    while (level < MAX_LEVEL && this.#seen / 2 ** level > this.#share) level += 1;
    // Of a few conversations that are all there is, none may be among the chosen: then the first events are taken, of any.
    this.#takesAny = level > 0 && this.#level > 0 && this.#chosen === 0;
    this.#level = level;
    this.#chosen = 0;
    this.#seen = 0;
    this.#taken = 0;
    this.#windowEndMs = atMs + WINDOW_MS;
  }
}

/** FNV-1a of the last characters. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = Math.max(0, key.length - KEY_CHARS); at < key.length; at++)
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  // The low bits of a product of odd numbers are those of the last character alone.
  return hash ^ (hash >>> 15);
}
