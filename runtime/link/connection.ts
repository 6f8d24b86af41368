import { expose, type Endpoint, wrap } from 'comlink';
import { type ErrorData, embedderError, errorWithStack, type OrreryError } from '../protocol/errors.ts';
import type { Port } from './port.ts';

/** Calls as they are made from another thread: every answer is a promise. */
export type Remote<Calls> = {
  [Name in keyof Calls]: Calls[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};

/** What an answer carries: comlink loses the code of an error. */
type Sealed = { readonly value: unknown } | { readonly error: ErrorData };

/** A message of comlink in our frame. Whatever else comes on the port is an order. */
interface Framed {
  readonly t: 'call' | 'answer';
  readonly message: Numbered;
}

/** An answer has the id of its call. */
interface Numbered {
  readonly id: string;
}

/** What comlink has of one connection to call through. */
interface SealedCalls {
  call(name: string, args: unknown[]): Promise<Sealed>;
}

/**
 * One port between two threads, for orders and calls both ways. Everything on it arrives in the order in which it was
 * posted: what was ordered before an answer is obeyed before the answer is had.
 *
 * Comlink carries the calls. It waits for ever when the other side dies; here a call fails once the connection is `cut`.
 *
 * `Calls` lists what the other side answers, `Order` what it is told one way.
 */
export class Connection<Calls extends object = object, Order = never> {
  readonly api: Remote<Calls>;
  readonly #port: Port;
  /** What fails a call, by its id, until its answer is read. */
  readonly #waiting = new Map<string, (error: OrreryError) => void>();
  #lastCall = '';
  #onAnswer: (message: unknown) => void = () => undefined;
  #cut: OrreryError | undefined;

  /** Nothing is heard before `serve`: it waits in the port. */
  constructor(port: Port) {
    this.#port = port;
    const remote = wrap<SealedCalls>(
      this.#endpoint('call', (listener) => {
        this.#onAnswer = listener;
      }),
    );
    this.api = new Proxy({} as Remote<Calls>, {
      get:
        (_, name) =>
        (...args: unknown[]) =>
          this.#call(() => remote.call(String(name), args)),
    });
  }

  /** Answers the other side's calls by `ours` and gives on its orders, from now on. */
  serve<Ours extends object>(ours: Ours, onOrder: (order: unknown) => void = () => undefined): void {
    let onCall: (message: unknown) => void = () => undefined;
    const calls: SealedCalls = { call: (name, args) => sealed(ours, name as keyof Ours, args) };
    expose(
      calls,
      this.#endpoint('answer', (listener) => {
        onCall = listener;
      }),
    );
    this.#port.onMessage((received) => {
      const { t, message } = received as Framed;
      if (t === 'call') onCall(message);
      else if (t === 'answer') this.#answered(message);
      else onOrder(received);
    });
  }

  tell(order: Order, transfer?: readonly unknown[]): void {
    this.#port.post(order, transfer);
  }

  /** The other side is gone: every future call fails with `error`, and every one whose answer was not read. */
  cut(error: OrreryError): void {
    this.#cut = error;
    for (const fail of this.#waiting.values()) fail(error);
    this.#waiting.clear();
  }

  /** Keeps the thread alive while the port is open. */
  hold(): void {
    this.#port.hold();
  }

  close(): void {
    this.#port.close();
  }

  #call(post: () => Promise<Sealed>): Promise<unknown> {
    if (this.#cut !== undefined) return Promise.reject(this.#cut);
    return new Promise((resolve, reject) => {
      const answer = post();
      const id = this.#lastCall;
      this.#waiting.set(id, reject);
      answer.then(
        (result) => {
          if ('error' in result) reject(embedderError(result.error));
          else resolve(result.value);
        },
        (error: unknown) => {
          this.#waiting.delete(id);
          reject(error);
        },
      );
    });
  }

  /** Comlink hands it on some turns later: a cut that comes before must not fail what was answered. */
  #answered(message: Numbered): void {
    this.#waiting.delete(message.id);
    this.#onAnswer(message);
  }

  /** What comlink takes for a port of its own: it posts in frames, and gets what comes in the other's. */
  #endpoint(t: Framed['t'], listen: (listener: (message: unknown) => void) => void): Endpoint {
    return {
      postMessage: (message: Numbered, transfer?: unknown[]) => {
        if (t === 'call') this.#lastCall = message.id;
        this.#port.post({ t, message } satisfies Framed, transfer);
      },
      addEventListener: (_type: string, listener: unknown) =>
        listen((data) => (listener as (event: { data: unknown }) => void)({ data })),
      removeEventListener: () => undefined,
    } as Endpoint;
  }
}

async function sealed<Ours extends object>(ours: Ours, name: keyof Ours, args: unknown[]): Promise<Sealed> {
  try {
    const method = ours[name] as unknown as (...given: unknown[]) => unknown;
    return { value: await method.apply(ours, args) };
  } catch (error) {
    return { error: errorWithStack(error) };
  }
}
