import { expose, type Endpoint, wrap } from 'comlink';
import { type ErrorData, embedderError, errorWithStack, type OrreryError } from '../protocol/errors.ts';
import type { Port } from './port.ts';

/**
 * The control interface between threads: asynchronous calls over comlink.
 *
 * Comlink waits for ever when the other side dies, and loses an error's code; here a call fails when the line is cut, and
 * carries errors as data.
 */

/** An object's methods, as they are called from another thread. */
export type Remote<Self> = {
  [Name in keyof Self]: Self[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};

type Sealed = { readonly value: unknown } | { readonly error: ErrorData };

/** Lets the other end of `port` call the methods of `api`. */
export function exposeApi<Self extends object>(api: Self, port: Port): void {
  const call = async (name: string, args: unknown[]): Promise<Sealed> => {
    try {
      const method = api[name as keyof Self] as unknown as (...given: unknown[]) => unknown;
      return { value: await method.apply(api, args) };
    } catch (error) {
      return { error: errorWithStack(error) };
    }
  };
  expose({ call }, endpoint(port));
}

/** Calls the api behind a port. Whoever calls waits as long as the other side is there: `cut` says when it is not. */
export class Caller<Self> {
  readonly api: Remote<Self>;
  readonly #waiting = new Set<(error: OrreryError) => void>();
  #cut: OrreryError | undefined;

  constructor(port: Port) {
    const remote = wrap<{ call(name: string, args: unknown[]): Promise<Sealed> }>(endpoint(port));
    this.api = new Proxy({} as Remote<Self>, {
      get:
        (_, name) =>
        (...args: unknown[]) =>
          this.#call(remote.call(String(name), args)),
    });
  }

  /** The other side is gone: every waiting and future call fails with `error`. */
  cut(error: OrreryError): void {
    this.#cut = error;
    for (const fail of this.#waiting) fail(error);
    this.#waiting.clear();
  }

  #call(sealed: Promise<Sealed>): Promise<unknown> {
    if (this.#cut !== undefined) return Promise.reject(this.#cut);
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        this.#waiting.delete(fail);
        reject(error);
      };
      this.#waiting.add(fail);
      sealed.then((result) => {
        this.#waiting.delete(fail);
        if ('error' in result) reject(embedderError(result.error));
        else resolve(result.value);
      }, fail);
    });
  }
}

function endpoint(port: Port): Endpoint {
  return {
    postMessage: (message: unknown, transfer?: unknown[]) => port.post(message, transfer ?? []),
    addEventListener: (_type: string, listener: unknown) => {
      port.onMessage((data) => (listener as (event: { data: unknown }) => void)({ data }));
    },
    removeEventListener: () => undefined,
  } as Endpoint;
}
