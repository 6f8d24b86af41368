import {
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import { type ChildOrder, GuardedChild } from './guarded-child.ts';
import { LineReader } from '../../../runtime/protocol/line-reader.ts';

/** A message of more than this many times `maxMessageBytes` counts as flooding. */
const SKIPS = 16;

/** Each as `McpTarget` has it. */
export interface StdioLimits {
  readonly maxMessageBytes: number;
  readonly maxUnaskedBytes: number;
  readonly stopGraceMs: number;
}

export interface StdioTransportDeps {
  readonly order: ChildOrder;
  readonly clock: Clock;
  /** Called when a message is too large. It is not known which request it answers. */
  readonly onTooLarge: () => void;
  readonly onLog: (text: string) => void;
}

/**
 * A transport to a server in a process of its own, one message a line. Whatever the server does, each request gets an answer,
 * or `onclose` is called.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  /** The SDK takes this and `pid` as the sign of a private process. */
  readonly stderr = null;
  /** Why it was closed. */
  reason = 'it was closed';
  readonly #deps: StdioTransportDeps;
  readonly #limits: StdioLimits;
  #child: GuardedChild | undefined;
  #unasked = 0;
  #isFlooding = false;
  #isClosed = false;
  #isKilled = false;

  constructor(deps: StdioTransportDeps, limits: StdioLimits) {
    this.#deps = deps;
    this.#limits = limits;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Whether the process has ended, or could not be started, and was not ended from here. */
  get hasEnded(): boolean {
    return this.#isClosed && !this.#isKilled;
  }

  async start(): Promise<void> {
    const { order, clock, onLog } = this.#deps;
    const child = new GuardedChild(order, clock);
    this.#child = child;
    const lines = new LineReader({
      maxBytes: this.#limits.maxMessageBytes,
      onLine: (line) => this.#take(line),
      onTooLong: () => this.#deps.onTooLarge(),
      onSkipped: (bytes) => {
        if (bytes > SKIPS * this.#limits.maxMessageBytes)
          this.#endFlood(`a message of more than ${bytes} bytes`);
      },
    });
    child.output.on('data', (chunk: Buffer) => {
      if (!this.#isFlooding) lines.push(chunk);
    });
    const log = new LogWindow(clock, onLog);
    child.log.on('data', (chunk: Buffer) => log.add(chunk));
    void child.ended.then((how) => {
      log.end();
      this.#close(this.#isFlooding ? this.reason : how);
    });
    if (child.pid === undefined) throw new Error(await child.ended);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#isClosed) throw new Error(`The server is gone: ${this.reason}`);
    const line = `${JSON.stringify(message)}\n`;
    const { maxMessageBytes } = this.#limits;
    const length = Buffer.byteLength(line);
    if (length > maxMessageBytes)
      throw new Error(`the message has ${length} bytes, at most ${maxMessageBytes} are sent`);
    if (child.input.writableLength > maxMessageBytes)
      throw new Error('the server does not read what it is sent');
    child.input.write(line);
  }

  async close(): Promise<void> {
    this.#isKilled ||= !this.#isClosed;
    await this.#child?.stop(this.#limits.stopGraceMs);
    this.#close('it was closed');
  }

  /** Kills the process at once. */
  kill(reason: string): void {
    this.#isKilled = true;
    this.reason = reason;
    this.#child?.kill();
  }

  #take(line: string): void {
    const message = parsed(line);
    const isAnswer =
      message !== undefined && (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message));
    this.#unasked = isAnswer ? 0 : this.#unasked + line.length;
    const { maxUnaskedBytes } = this.#limits;
    if (this.#unasked > maxUnaskedBytes)
      return this.#endFlood(`more than ${maxUnaskedBytes} bytes that nobody asked for`);
    if (message === undefined) this.onerror?.(new Error(`a line that is no message: ${line.slice(0, 100)}`));
    else this.onmessage?.(message);
  }

  #endFlood(what: string): void {
    if (this.#isFlooding) return;
    this.#isFlooding = true;
    this.kill(`it floods: ${what}`);
  }

  #close(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.reason = reason;
    this.onclose?.();
  }
}

function parsed(line: string): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** The time that log output is limited over. */
const WINDOW_MS = 1_000;
const MAX_BYTES = 4_096;

/** Limits a server's log output to `MAX_BYTES` in each window, and tells how many bytes were dropped. */
class LogWindow {
  readonly #clock: Pick<Clock, 'setTimer' | 'monotonicMs'>;
  readonly #tell: (text: string) => void;
  #openedAtMs = Number.NEGATIVE_INFINITY;
  #told = 0;
  #dropped = 0;

  constructor(clock: Pick<Clock, 'setTimer' | 'monotonicMs'>, tell: (text: string) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  add(chunk: Buffer): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#openedAtMs >= WINDOW_MS) {
      this.end();
      this.#openedAtMs = nowMs;
      this.#told = 0;
    }
    const room = MAX_BYTES - this.#told;
    const text = chunk.subarray(0, room).toString('utf8').trimEnd();
    this.#told += Math.min(chunk.length, room);
    this.#dropped += Math.max(0, chunk.length - room);
    if (text !== '') this.#tell(text);
  }

  /** Tells how many bytes were dropped, if any. */
  end(): void {
    if (this.#dropped > 0) this.#tell(`(${this.#dropped} bytes more)`);
    this.#dropped = 0;
  }
}
