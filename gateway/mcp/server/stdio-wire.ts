import type { Readable, Writable } from 'node:stream';
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/server';
import { reasonOf } from '../../../runtime/protocol/errors.ts';
import { isDeeperThan, MAX_JSON_DEPTH, jsonOf } from '../../../runtime/protocol/json.ts';
import { LineReader } from '../line-reader.ts';
import { isObject, MEMBER_LIMITS, MemberCounter } from '../../http/json-text.ts';
import { MCP_CODES } from './mcp-errors.ts';

/** More than anybody's message has. */
const MAX_LINE_BYTES = 10_485_760;

/** Sees what comes and goes, and may change it: what is undefined is not given on, and `sent` is called when it is written. */
export interface StdioFilter {
  arriving(message: JSONRPCMessage): JSONRPCMessage | undefined;
  leaving(message: JSONRPCMessage): { readonly message: JSONRPCMessage; readonly sent?: () => void };
}

/** An answer to what is no message at all, or none that can be understood (JSON-RPC 2.0, section 5.1). */
interface Refusal {
  readonly jsonrpc: '2.0';
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string };
}

/**
 * Messages of MCP over a pair of streams, a line each. What is no message is answered, and what comes after it is read: -32700
 * for what is no JSON, and -32600 for what is no message of JSON-RPC, is nested too deeply, too long, or has too many members.
 */
export class StdioWire implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  between: StdioFilter | undefined;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #lines: LineReader;
  #isClosed = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
    this.#lines = new LineReader({
      maxBytes: MAX_LINE_BYTES,
      onLine: (line) => this.#take(line),
      onTooLong: () =>
        this.#refuse(null, MCP_CODES.invalidRequest, `A message has at most ${MAX_LINE_BYTES} bytes`),
      onSkipped: () => undefined,
    });
  }

  async start(): Promise<void> {
    const { readableEnded, destroyed } = this.#input;
    // Whoever has started it still has to hear of it.
    if (readableEnded || destroyed) void Promise.resolve().then(this.#end);
    this.#input.on('data', this.#read);
    this.#input.on('error', this.#fail);
    for (const event of ['end', 'close']) this.#input.on(event, this.#end);
    // What goes wrong later, with what was written before, is nobody's any more: so this one stays.
    this.#output.on('error', this.#end);
  }

  send(message: JSONRPCMessage): Promise<void> {
    const { message: told, sent } = this.between?.leaving(message) ?? { message };
    const written = this.write(told);
    if (!this.#isClosed) sent?.();
    return written;
  }

  /** Resolves when it is written, or there is room for more. Rejects when nobody reads any more. */
  write(message: JSONRPCMessage | Refusal): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('The connection is closed'));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const hasRoom = this.#output.write(`${JSON.stringify(message)}\n`, (error) =>
      error ? reject(error) : resolve(),
    );
    if (hasRoom) resolve();
    return promise;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.off('data', this.#read);
    this.#input.off('error', this.#fail);
    for (const event of ['end', 'close']) this.#input.off(event, this.#end);
    if (this.#input.listenerCount('data') === 0) this.#input.pause();
    this.onclose?.();
  }

  readonly #read = (chunk: Buffer | string): void =>
    this.#lines.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);

  readonly #fail = (error: Error): void => this.onerror?.(error);

  readonly #end = (): void => void this.close();

  #take(line: string): void {
    if (this.#isClosed) return;
    const tooMuch = membersBeyond(line);
    if (tooMuch !== undefined) return this.#refuse(null, MCP_CODES.invalidRequest, tooMuch);
    const said = jsonOf(line);
    if (said === undefined)
      return this.#refuse(null, MCP_CODES.parseError, 'Parse error: the line is no JSON');
    const message = messageIn(said);
    if (message !== undefined) return this.#giveOn(message);
    const reason = isDeeperThan(said)
      ? `The message is nested deeper than ${MAX_JSON_DEPTH} levels`
      : 'Invalid request: it is no message of JSON-RPC 2.0';
    this.#refuse(idOf(said), MCP_CODES.invalidRequest, reason);
  }

  #giveOn(message: JSONRPCMessage): void {
    const served = this.between === undefined ? message : this.between.arriving(message);
    if (served !== undefined) this.onmessage?.(served);
  }

  #refuse(id: Refusal['id'], code: number, message: string): void {
    const sent = this.write({ jsonrpc: '2.0', id, error: { code, message } });
    // Whoever writes what is none, and does not read what is said of it, has to wait.
    if (this.#output.writableNeedDrain) this.#input.pause();
    sent.then(this.#goOn, () => undefined);
  }

  readonly #goOn = (): void => {
    if (!this.#isClosed && this.#input.isPaused()) this.#input.resume();
  };
}

/** What a line has too much of, counted before anything is made of it. */
function membersBeyond(line: string): string | undefined {
  // Each takes two bytes at least.
  if (line.length < 2 * MEMBER_LIMITS.maxKeys) return undefined;
  try {
    new MemberCounter(MEMBER_LIMITS).take(Buffer.from(line));
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

function messageIn(said: unknown): JSONRPCMessage | undefined {
  if (isDeeperThan(said)) return undefined;
  try {
    return parseJSONRPCMessage(said);
  } catch {
    return undefined;
  }
}

/** That of what was meant as a request; an answer that is none is none of the client's own requests. */
function idOf(said: unknown): Refusal['id'] {
  const id = isObject(said) && typeof said['method'] === 'string' ? said['id'] : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
