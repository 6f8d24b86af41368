/** One message of a stream of server-sent events. */
export interface SseMessage {
  readonly event: string;
  readonly data: string;
}

/** A longer message ends the stream's trust: nobody sends one. */
const MAX_MESSAGE = 64 * 1024 * 1024;

/** Cuts the text of an event stream into its messages, wherever the text is cut. Comments and ids are skipped. */
export class SseParser {
  readonly #onMessage: (message: SseMessage) => void;
  #rest = '';
  #event = '';
  #data: string[] = [];
  #size = 0;

  constructor(onMessage: (message: SseMessage) => void) {
    this.#onMessage = onMessage;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length + this.#size > MAX_MESSAGE) throw new Error('a message has more than 64 MiB');
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    if (line === '') {
      this.#dispatch();
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') this.#event = value;
    if (field !== 'data') return;
    this.#data.push(value);
    this.#size += value.length;
  }

  #dispatch(): void {
    const data = this.#data.join('\n');
    const event = this.#event;
    this.#data = [];
    this.#event = '';
    this.#size = 0;
    if (data !== '') this.#onMessage({ event: event === '' ? 'message' : event, data });
  }
}
