import type { Readable, Writable } from 'node:stream';
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/server';
import { reasonOf } from '../../../runtime/protocol/errors.ts';
import { isDeeperThan, MAX_JSON_DEPTH, jsonOf } from '../../../runtime/protocol/json.ts';
import { LineReader } from '../../../runtime/protocol/line-reader.ts';
import { isObject, MEMBER_LIMITS, MemberCounter } from '../../http/json-text.ts';
import { MCP_CODES } from './mcp-errors.ts';

/** The longest message, bytes. */
const MAX_LINE_BYTES = 10_485_760;

/**
 * Filters messages in both directions. `arriving` returns what is to be served, or undefined. `leaving` returns what is sent,
 * and `sent` is called when that is written.
 */
export interface StdioFilter {
  arriving(message: JSONRPCMessage): JSONRPCMessage | undefined;
  leaving(message: JSONRPCMessage): { readonly message: JSONRPCMessage; readonly sent?: () => void };
}

/** An error answer to a line that is no valid message (JSON-RPC 2.0, section 5.1). */
interface Refusal {
  readonly jsonrpc: '2.0';
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string };
}

/**
 * A transport of MCP over a pair of streams, one message a line. An invalid line is answered with an error, and reading goes
 * on: -32700 if it is no JSON; -32600 if it is no JSON-RPC, nested too deeply, too long, or has too many members.
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
    // Closes later, so that who calls `start` can set `onclose`.
    if (readableEnded || destroyed) void Promise.resolve().then(this.#end);
    this.#input.on('data', this.#read);
    this.#input.on('error', this.#fail);
    for (const event of ['end', 'close']) this.#input.on(event, this.#end);
    // Stays after `close`: a late error of what was written has no other listener, and would be thrown.
    this.#output.on('error', this.#end);
  }

  send(message: JSONRPCMessage): Promise<void> {
    const { message: told, sent } = this.between?.leaving(message) ?? { message };
    const written = this.write(told);
    if (!this.#isClosed) sent?.();
    return written;
  }

  /** Writes a message; resolves when it is written or buffered. Rejects when the output is closed. */
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
    // A client that sends invalid lines and does not read the answers has to wait.
    if (this.#output.writableNeedDrain) this.#input.pause();
    sent.then(this.#goOn, () => undefined);
  }

  readonly #goOn = (): void => {
    if (!this.#isClosed && this.#input.isPaused()) this.#input.resume();
  };
}

/** Says which limit of members a line exceeds, counted before it is parsed; undefined if none. */
function membersBeyond(line: string): string | undefined {
  // A member takes two bytes at least.
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

/** The id of an invalid request; null for an invalid answer, whose id is of a request of ours. */
function idOf(said: unknown): Refusal['id'] {
  const id = isObject(said) && typeof said['method'] === 'string' ? said['id'] : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
