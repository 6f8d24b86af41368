import { remoteFailed } from '../../runtime/protocol/edge-errors.ts';

/**
 * One event of a stream of server-sent events (HTML standard, 9.2). `id` is undefined if the event itself has none, even if one
 * before it had.
 */
export interface ServerSentEvent {
  readonly type: string;
  readonly data: string;
  readonly id: string | undefined;
}

/**
 * Yields the server-sent events in a stream of bytes, however that is cut into pieces. Throws REMOTE_FAILED for an event of more
 * than `maxChars` characters. An event that the end of the bytes cuts off is dropped.
 */
export async function* serverSentEvents(
  bytes: AsyncIterable<Uint8Array>,
  { maxChars, from }: { readonly maxChars: number; readonly from: string },
): AsyncGenerator<ServerSentEvent, void> {
  const lines = new LineReader();
  const event = new EventBuilder();
  for await (const chunk of bytes) {
    for (const line of lines.take(chunk)) {
      const made = event.take(line);
      if (made !== undefined) yield made;
    }
    if (lines.heldChars + event.chars > maxChars)
      throw remoteFailed(from, `an event of its stream is larger than ${maxChars} characters`, { maxChars });
  }
}

/** Splits text into lines that end in LF, CR LF or CR. */
class LineReader {
  readonly #decoder = new TextDecoder();
  readonly #held: string[] = [];
  #endedInCr = false;
  heldChars = 0;

  *take(chunk: Uint8Array): Generator<string, void> {
    let text = this.#decoder.decode(chunk, { stream: true });
    if (text === '') return;
    const isRestOfEnd = this.#endedInCr && text.startsWith('\n');
    this.#endedInCr = text.endsWith('\r');
    if (isRestOfEnd) text = text.slice(1);
    const lines = text.split(/\r\n|\n|\r/);
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      yield this.#held.length === 0 ? line : this.#held.join('') + line;
      this.#held.length = 0;
      this.heldChars = 0;
    }
    if (rest !== '') this.#held.push(rest);
    this.heldChars += rest.length;
  }
}

class EventBuilder {
  #type = '';
  #data: string[] = [];
  #id: string | undefined;
  chars = 0;

  /** The event that this line completes. */
  take(line: string): ServerSentEvent | undefined {
    if (line === '') return this.#complete();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') {
      this.#data.push(value);
      this.chars += value.length;
    } else if (field === 'event') this.#type = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    return undefined;
  }

  #complete(): ServerSentEvent | undefined {
    const [type, data, id] = [this.#type, this.#data, this.#id];
    this.#type = '';
    this.#id = undefined;
    this.#data = [];
    this.chars = 0;
    if (data.length === 0) return undefined;
    return { type: type === '' ? 'message' : type, data: data.join('\n'), id };
  }
}
