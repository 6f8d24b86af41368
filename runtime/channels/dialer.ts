import type { AgentEndpoint } from '../protocol/agent-card.ts';
import { cancelled } from '../protocol/errors.ts';
import type { Seams } from '../protocol/seams.ts';
import { type Connection, type Transport, type TransportKind, unreachable } from '../protocol/transport.ts';
import type { BackOff } from '../protocol/back-off.ts';
import { backOffMs } from '../protocol/back-off-ms.ts';

/** A way that is slow is not begun anew for ever: an attempt may take so many times as long as the first. */
const MAX_PATIENCE = 8;

export interface DialerDeps {
  readonly seams: Pick<Seams, 'clock' | 'random'>;
  /** In the order of preference. */
  readonly transports: readonly Transport[];
  readonly endpoints: () => Promise<readonly AgentEndpoint[]> | readonly AgentEndpoint[];
  readonly redial: BackOff;
  /** How long the first attempt may take; each further one in vain may take twice as long as the one before, up to `MAX_PATIENCE`. */
  readonly timeoutMs: number;
}

export interface DialerUser {
  onConnected(connection: Connection, kind: TransportKind): void;
  onFailed(reason: string): void;
}

/** An address, and what connects to it. */
interface Way {
  readonly transport: Transport;
  readonly address: string;
}

/** Connects to an agent, again and again as its channel asks, one attempt at a time. */
export class Dialer {
  readonly #deps: DialerDeps;
  #ways: readonly Way[] = [];
  #way = '';
  /** Ways on which the other end has answered, and those on which somebody has refused since. */
  readonly #proven = new Set<string>();
  readonly #refusing = new Set<string>();
  // The attempts before the next one that brought nothing.
  #inVain = 0;
  #cancelWait: (() => void) | undefined;
  #attempt: AbortController | undefined;

  constructor(deps: DialerDeps) {
    this.#deps = deps;
  }

  /** Connects after a wait, which grows with every attempt that was not followed by `succeeded`. */
  dial(user: DialerUser): void {
    this.stop();
    const { redial, seams } = this.#deps;
    const waitMs = backOffMs(redial, this.#inVain, seams.random);
    this.#inVain += 1;
    if (waitMs === 0) void this.#connect(user);
    else this.#cancelWait = seams.clock.setTimer(waitMs, () => void this.#connect(user));
  }

  /** Resets the back-off: the next attempt is made at once. */
  succeeded(): void {
    this.#inVain = 0;
  }

  /** It was the other end that answered. */
  answered(): void {
    this.#proven.add(this.#way);
    this.#refusing.clear();
  }

  /**
   * Somebody has refused. Whether that is the last word: who refuses proves nothing. So it is where the other end has answered
   * before, or when they refuse everywhere.
   */
  refused(): boolean {
    this.#refusing.add(this.#way);
    return this.#proven.has(this.#way) || this.#refusing.size >= this.#ways.length;
  }

  /** Cancels the attempt, without a callback. */
  stop(): void {
    this.#cancelWait?.();
    this.#cancelWait = undefined;
    this.#attempt?.abort();
    this.#attempt = undefined;
  }

  async #connect(user: DialerUser): Promise<void> {
    const attempt = new AbortController();
    this.#attempt = attempt;
    const { seams } = this.#deps;
    const timeoutMs = this.#deps.timeoutMs * Math.min(2 ** (this.#inVain - 1), MAX_PATIENCE);
    const cancelTimeout = seams.clock.setTimer(timeoutMs, () =>
      attempt.abort(cancelled(`Connecting for more than ${timeoutMs} ms`)),
    );
    try {
      const { connection, kind } = await this.#first(attempt.signal);
      if (this.#attempt === attempt) user.onConnected(connection, kind);
      else await connection.close();
    } catch (error) {
      if (this.#attempt === attempt) user.onFailed((error as Error).message);
    } finally {
      cancelTimeout();
    }
  }

  /**
   * The first connection that comes about, tried in the order of the transports, then of the endpoints. Each attempt begins with
   * the next one, so that one that keeps silent does not stand before the others.
   */
  async #first(signal: AbortSignal): Promise<{ connection: Connection; kind: TransportKind }> {
    const endpoints = await unlessAborted(Promise.resolve(this.#deps.endpoints()), signal);
    this.#ways = this.#deps.transports.flatMap((transport) =>
      endpoints
        .filter(({ transport: kind }) => kind === transport.kind)
        .map(({ address = '' }) => ({ transport, address })),
    );
    let failure: unknown = unreachable('', 'no endpoint that a transport here could reach');
    const first = Math.max(0, this.#inVain - 1);
    for (let at = 0; at < this.#ways.length; at++) {
      const { transport, address } = this.#ways[(first + at) % this.#ways.length] as Way;
      try {
        const connecting = transport.connect(address, { signal });
        const connection = await unlessAborted(connecting, signal, closeLate);
        this.#way = `${transport.kind} ${address}`;
        return { connection, kind: transport.kind };
      } catch (error) {
        if (signal.aborted) throw error;
        failure = error;
      }
    }
    throw failure;
  }
}

function closeLate(connection: Connection): void {
  connection.close().catch(() => undefined);
}

/** As `work`, but rejects as soon as the signal aborts; what comes after all is given to `onLate`. */
function unlessAborted<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
  onLate: (late: Value) => void = () => undefined,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason);
      work.then(onLate, () => undefined);
    };
    if (signal.aborted) {
      abort();
      return;
    }
    signal.addEventListener('abort', abort, { once: true });
    const over = (): void => signal.removeEventListener('abort', abort);
    work.then(
      (value) => {
        over();
        resolve(value);
      },
      (error: unknown) => {
        over();
        reject(error);
      },
    );
  });
}
