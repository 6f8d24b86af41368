import { expose, type Endpoint, wrap } from 'comlink';
import { type ErrorData, embedderError, errorWithStack, type OrreryError } from '../protocol/errors.ts';
import type { Port } from './port.ts';

/** The calls as seen from another thread: each returns a promise. */
export type Remote<Calls> = {
  [Name in keyof Calls]: Calls[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};

/** An answer's value or error as data: comlink would lose the error's code. */
type Sealed = { readonly value: unknown } | { readonly error: ErrorData };

/** A message of comlink in our frame. Everything else on the port is an order. */
interface Framed {
  readonly t: 'call' | 'answer';
  readonly message: Numbered;
}

/** An answer has the id of its call. */
interface Numbered {
  readonly id: string;
}

/** What comlink calls on one connection. */
interface SealedCalls {
  call(name: string, args: unknown[]): Promise<Sealed>;
}

/** Where comlink posts calls, and who hears the answers. */
interface CallWire {
  readonly post: (message: Numbered, transfer?: unknown[]) => void;
  onAnswer: (message: unknown) => void;
}

/**
 * One port between two threads, for orders and calls both ways. Everything on it arrives in the order in which it was
 * posted: an order that was given before an answer takes effect before the answer arrives.
 *
 * Comlink carries the calls. It waits for ever when the other side dies; here a call fails once the connection is `cut`.
 *
 * `Calls` lists what the other side answers, `Order` what it is told one way.
 */
export class Connection<Calls extends object = object, Order = never> {
  readonly api: Remote<Calls>;
  readonly #port: Port;
  /** By the id of each call whose answer is not read yet: the function that fails it. */
  readonly #waiting = new Map<string, (error: OrreryError) => void>();
  readonly #wire: CallWire;
  #lastCall = '';
  #cut: OrreryError | undefined;

  /** Messages wait in the port until `serve`. */
  constructor(port: Port) {
    this.#port = port;
    this.#wire = {
      post: (message, transfer) => {
        this.#lastCall = message.id;
        this.#port.post({ t: 'call', message } satisfies Framed, transfer);
      },
      onAnswer: () => undefined,
    };
    const remote = wrap<SealedCalls>(callEndpoint(new WeakRef(this.#wire)));
    this.api = new Proxy({} as Remote<Calls>, {
      get:
        (_, name) =>
        (...args: unknown[]) =>
          this.#call(() => remote.call(String(name), args)),
    });
  }

  /** From now on answers the other side's calls with `ours`, and passes its orders to `onOrder`. */
  serve<Ours extends object>(ours: Ours, onOrder: (order: unknown) => void = () => undefined): void {
    let onCall: (message: unknown) => void = () => undefined;
    const calls: SealedCalls = { call: (name, args) => sealed(ours, name as keyof Ours, args) };
    expose(
      calls,
      endpoint(
        (message, transfer) => this.#port.post({ t: 'answer', message } satisfies Framed, transfer),
        (listener) => {
          onCall = listener;
        },
      ),
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

  /** Fails every later call, and every call whose answer was not read yet, with `error`: the other side is gone. */
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

  /** Comlink passes the answer on some turns later. A cut before that must not fail the answered call. */
  #answered(message: Numbered): void {
    this.#waiting.delete(message.id);
    this.#wire.onAnswer(message);
  }
}

/** Comlink keeps the endpoint of a proxy as long as the proxy: one from which that were reached would stay for ever. */
const callEndpoint = (wire: WeakRef<CallWire>): Endpoint =>
  endpoint(
    (message, transfer) => wire.deref()?.post(message, transfer),
    (listener) => {
      const its = wire.deref();
      if (its !== undefined) its.onAnswer = listener;
    },
  );

/** An endpoint for comlink, which posts by `post` and hears what its listener is given. */
function endpoint(
  post: (message: Numbered, transfer?: unknown[]) => void,
  listen: (listener: (message: unknown) => void) => void,
): Endpoint {
  return {
    postMessage: post,
    addEventListener: (_type: string, listener: unknown) =>
      listen((data) => (listener as (event: { data: unknown }) => void)({ data })),
    removeEventListener: () => undefined,
  } as Endpoint;
}

async function sealed<Ours extends object>(ours: Ours, name: keyof Ours, args: unknown[]): Promise<Sealed> {
  try {
    const method = ours[name] as unknown as (...given: unknown[]) => unknown;
    return { value: await method.apply(ours, args) };
  } catch (error) {
    return { error: errorWithStack(error) };
  }
}
