/** A server-sent event. */
export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

/** More is no event that a team sends: it is not held. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

/** Reads server-sent events from chunks of bytes, wherever these are cut. */
export class SseReader {
  readonly #text = new TextDecoder();
  #rest = '';
  #event = '';
  #data: string[] = [];
  #held = 0;

  /** The events that are whole with this chunk. Throws if one is too long. */
  push(chunk: Uint8Array): SseEvent[] {
    this.#rest += this.#text.decode(chunk, { stream: true });
    const events: SseEvent[] = [];
    let begin = 0;
    for (;;) {
      const end = this.#lineEnd(begin);
      if (end === undefined) break;
      const event = this.#take(this.#rest.slice(begin, end.at));
      if (event !== undefined) events.push(event);
      begin = end.next;
    }
    this.#rest = this.#rest.slice(begin);
    if (this.#held + this.#rest.length > MOST_CHARACTERS)
      throw new Error(`An event has more than ${MOST_CHARACTERS} characters`);
    return events;
  }

  /** Where the line from `begin` on ends; undefined while nobody knows. A carriage return may be half of an end. */
  #lineEnd(begin: number): { readonly at: number; readonly next: number } | undefined {
    const feed = this.#rest.indexOf('\n', begin);
    const carriage = this.#rest.indexOf('\r', begin);
    if (carriage < 0 || (feed >= 0 && feed < carriage))
      return feed < 0 ? undefined : { at: feed, next: feed + 1 };
    if (carriage === this.#rest.length - 1) return undefined;
    return { at: carriage, next: carriage + (this.#rest[carriage + 1] === '\n' ? 2 : 1) };
  }

  #take(line: string): SseEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (field === 'event') this.#event = value;
    if (field === 'data') {
      this.#data.push(value);
      this.#held += value.length;
    }
    return undefined;
  }

  #dispatch(): SseEvent | undefined {
    const event = { event: this.#event === '' ? 'message' : this.#event, data: this.#data.join('\n') };
    const isEmpty = this.#data.length === 0;
    this.#event = '';
    this.#data = [];
    this.#held = 0;
    return isEmpty ? undefined : event;
  }
}
