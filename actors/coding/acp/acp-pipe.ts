import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { LineReader } from '../../../runtime/protocol/line-reader.ts';
import { eachChunk } from '../program-output.ts';

/** The longest message that is read, bytes: whole files are sent in one. */
const MAX_MESSAGE_BYTES = 8_000_000;
/** The most requests of the program that wait for their answers. Until there are fewer, nothing more is read. */
const MAX_WAITING = 64;

const Id = z.union([z.string(), z.number()]);
const Message = z.union([
  z.looseObject({ method: z.string(), id: Id.optional() }),
  z.looseObject({ method: z.undefined().optional(), id: Id }),
]);

/**
 * - `onUpdate`     is told what a `session/update` says, in order, and before any answer that comes after it.
 * - `onUnreadable` is told of a line that is no message.
 * - `onTooLong`    is told of one of more bytes than are read.
 */
export interface AcpPipeDeps {
  readonly input: Writable;
  readonly output: Readable;
  readonly heard: () => void;
  readonly onUpdate: (params: unknown) => void;
  readonly onUnreadable: (line: string) => void;
  readonly onTooLong: (maxBytes: number) => void;
}

/** The messages of a program's standard input and output, one a line. It holds one line at most, and few requests. */
export class AcpPipe implements Stream {
  readonly readable: ReadableStream<AnyMessage>;
  readonly writable: WritableStream<AnyMessage>;
  readonly #deps: AcpPipeDeps;
  readonly #asked = new Set<unknown>();
  #waiting = 0;
  #wake: () => void = () => undefined;
  #take: (message: AnyMessage) => void = () => undefined;
  #close: () => void = () => undefined;

  constructor(deps: AcpPipeDeps) {
    this.#deps = deps;
    this.readable = new ReadableStream({
      start: (controller) => {
        this.#take = (message) => controller.enqueue(message);
        this.#close = () => controller.close();
      },
      cancel: () => {
        this.#take = this.#close = () => undefined;
      },
    });
    this.writable = new WritableStream({ write: (message) => this.#write(message) });
  }

  /** Reads until there is no more. */
  async read(): Promise<void> {
    const { output, heard, onTooLong } = this.#deps;
    const lines = new LineReader({
      maxBytes: MAX_MESSAGE_BYTES,
      onLine: (line) => this.#line(line),
      onTooLong: () => onTooLong(MAX_MESSAGE_BYTES),
      onSkipped: () => undefined,
    });
    await eachChunk(output, async (chunk) => {
      heard();
      lines.push(chunk);
      while (this.#waiting > MAX_WAITING && !output.destroyed) await this.#fewer();
    });
    lines.end();
    this.#close();
  }

  #fewer(): Promise<void> {
    const { output } = this.#deps;
    return new Promise((resolve) => {
      this.#wake = () => {
        output.off('close', this.#wake);
        resolve();
      };
      output.once('close', this.#wake);
    });
  }

  #line(line: string): void {
    const message = Message.safeParse(jsonOf(line));
    if (!message.success) return this.#deps.onUnreadable(line);
    const { id, method } = message.data;
    if (method === undefined) {
      // An answer to nothing is nobody's.
      if (this.#asked.delete(id)) this.#take(message.data as unknown as AnyMessage);
    } else if (id !== undefined) {
      this.#waiting++;
      this.#take({ ...message.data, jsonrpc: '2.0' } as unknown as AnyMessage);
    } else if (method === 'session/update') this.#deps.onUpdate(message.data['params']);
  }

  async #write(message: AnyMessage): Promise<void> {
    const { input } = this.#deps;
    if ('method' in message) {
      if ('id' in message) this.#asked.add(message.id);
    } else {
      this.#waiting--;
      this.#wake();
    }
    if (input.destroyed || input.write(`${JSON.stringify(message)}\n`)) return;
    await Promise.race([once(input, 'drain'), once(input, 'close')]).catch(() => undefined);
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
