import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { cancelled, invalidOptions } from '../../runtime/protocol/errors.ts';
import {
  type Connection,
  type Listener,
  type Transport,
  unreachable,
} from '../../runtime/protocol/transport.ts';
import { MessagePortConnection } from './message-port-connection.ts';

const DEFAULT_MAX_FRAME_BYTES = 1_048_576;

/**
 * - `address`       where this side can be reached by the other. @default ''
 * - `maxFrameBytes` the largest frame that is carried; the same at both sides. @default 1_048_576
 */
export interface MessagePortTransportOptions {
  readonly address?: string;
  readonly maxFrameBytes?: number;
}

/** Messages on the port between two threads. A connection has a port of its own, which comes with `connect`. */
type LineMessage =
  | { readonly type: 'connect'; readonly ref: number; readonly address: string; readonly port: MessagePort }
  | { readonly type: 'connected'; readonly ref: number }
  | { readonly type: 'refused'; readonly ref: number };

interface Attempt {
  readonly address: string;
  readonly settle: (error?: Error) => void;
}

/**
 * Carries frames between two threads of a process, each with one port of a `MessageChannel`; either side may connect and
 * listen. A thread that dies ends its connections; one that is stuck does not, and whoever needs to know asks it.
 */
export class MessagePortTransport implements Transport {
  readonly kind = 'local';
  readonly maxFrameBytes: number;
  readonly #address: string;
  readonly #ends = new Set<MessagePortConnection>();
  readonly #attempts = new Map<number, Attempt>();
  #line: MessagePort | undefined;
  #onConnection: ((connection: Connection) => void) | undefined;
  #nextRef = 0;

  /** Fails with INVALID_OPTIONS naming field and value. */
  constructor(line: MessagePort, options: MessagePortTransportOptions = {}) {
    const { address = '', maxFrameBytes = DEFAULT_MAX_FRAME_BYTES } = options;
    if (!Number.isInteger(maxFrameBytes) || maxFrameBytes < 1)
      throw invalidOptions('messagePort.maxFrameBytes', maxFrameBytes, 'a positive integer');
    this.#address = address;
    this.maxFrameBytes = maxFrameBytes;
    this.attach(line);
  }

  /** Ends of connections that are open on this side. */
  get openEnds(): number {
    return this.#ends.size;
  }

  get isListening(): boolean {
    return this.#onConnection !== undefined;
  }

  /** Uses another port from now on, to a thread that took the place of one that died. */
  attach(line: MessagePort): void {
    this.#line?.close();
    this.#line = line;
    line.on('message', (message: LineMessage) => this.#hear(message));
    line.on('close', () => this.#lineClosed(line));
    this.#hold();
  }

  async connect(address: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Connection> {
    if (signal?.aborted === true) throw cancelled(`Connecting to "${address}"`);
    const line = this.#line;
    if (line === undefined) throw unreachable(address, 'the thread at the other end is gone');
    const { port1, port2 } = new MessageChannel();
    try {
      await this.#ask(line, address, { port: port2, signal });
    } catch (error) {
      port1.close();
      throw error;
    }
    return this.#open(port1);
  }

  async listen(onConnection: (connection: Connection) => void): Promise<Listener> {
    if (this.#onConnection !== undefined)
      throw invalidOptions('messagePort.address', this.#address, 'an address at which nobody listens yet');
    this.#onConnection = onConnection;
    this.#hold();
    return {
      address: this.#address,
      close: async () => {
        if (this.#onConnection !== onConnection) return;
        this.#onConnection = undefined;
        this.#hold();
      },
    };
  }

  /** Ends every connection and the port itself. Nothing can be connected any more, unless another port is attached. */
  async close(): Promise<void> {
    this.#onConnection = undefined;
    await Promise.all([...this.#ends].map((end) => end.close()));
    const line = this.#line;
    if (line === undefined) return;
    this.#lineClosed(line);
    line.close();
  }

  #ask(
    line: MessagePort,
    address: string,
    { port, signal }: { readonly port: MessagePort; readonly signal: AbortSignal | undefined },
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const ref = this.#nextRef++;
      const abort = (): void => settle(cancelled(`Connecting to "${address}"`));
      const settle = (error?: Error): void => {
        this.#attempts.delete(ref);
        signal?.removeEventListener('abort', abort);
        this.#hold();
        if (error === undefined) resolve();
        else reject(error);
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#attempts.set(ref, { address, settle });
      this.#hold();
      line.postMessage({ type: 'connect', ref, address, port } satisfies LineMessage, [port]);
    });
  }

  #hear(message: LineMessage): void {
    if (message.type === 'connect') {
      this.#answer(message);
      return;
    }
    const attempt = this.#attempts.get(message.ref);
    if (message.type === 'connected') attempt?.settle();
    else attempt?.settle(unreachable(attempt.address, 'nobody listens there'));
  }

  #answer({ ref, address, port }: LineMessage & { type: 'connect' }): void {
    const onConnection = this.#onConnection;
    const isHere = onConnection !== undefined && address === this.#address;
    this.#line?.postMessage({ type: isHere ? 'connected' : 'refused', ref } satisfies LineMessage);
    if (isHere) onConnection(this.#open(port));
    else port.close();
  }

  #open(port: MessagePort): MessagePortConnection {
    const end = new MessagePortConnection(port, this.maxFrameBytes, () => this.#ends.delete(end));
    this.#ends.add(end);
    return end;
  }

  #lineClosed(line: MessagePort): void {
    if (this.#line !== line) return;
    this.#line = undefined;
    for (const { address, settle } of [...this.#attempts.values()])
      settle(unreachable(address, 'the thread at the other end is gone'));
  }

  /** The port keeps the thread alive while it listens, or waits for an answer. */
  #hold(): void {
    if (this.#onConnection !== undefined || this.#attempts.size > 0) this.#line?.ref();
    else this.#line?.unref();
  }
}
