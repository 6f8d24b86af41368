import { expose, type Endpoint, wrap } from 'comlink';
import {
  deadlineExceeded,
  type ErrorData,
  embedderError,
  errorWithStack,
  type OrreryError,
} from '../protocol/errors.ts';
import type { Clock } from '../protocol/seams.ts';
import type { Port } from './port.ts';

/**
 * The control interface between threads: asynchronous calls over comlink.
 *
 * Comlink waits for ever when the other side dies, and loses an error's code; here a call fails when the line is cut, may
 * have a deadline, and carries errors as data.
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

export interface CallerOptions {
  readonly clock: Clock;
  /** @default whoever calls waits as long as the other side is there */
  readonly timeoutMs?: number;
  /** Methods that take as long as they take. */
  readonly patientWith?: readonly string[];
  /** Whom is called, for the error of an unanswered call. */
  readonly name: string;
}

/** Calls the api behind a port. */
export class Caller<Self> {
  readonly api: Remote<Self>;
  readonly #waiting = new Set<(error: OrreryError) => void>();
  #cut: OrreryError | undefined;

  constructor(port: Port, options: CallerOptions) {
    const remote = wrap<{ call(name: string, args: unknown[]): Promise<Sealed> }>(endpoint(port));
    this.api = new Proxy({} as Remote<Self>, {
      get:
        (_, name) =>
        (...args: unknown[]) =>
          this.#call(remote.call(String(name), args), String(name), options),
    });
  }

  /** The other side is gone: every waiting and future call fails with `error`. */
  cut(error: OrreryError): void {
    this.#cut = error;
    for (const fail of this.#waiting) fail(error);
    this.#waiting.clear();
  }

  #call(
    sealed: Promise<Sealed>,
    name: string,
    { clock, timeoutMs, patientWith, name: whom }: CallerOptions,
  ): Promise<unknown> {
    if (this.#cut !== undefined) return Promise.reject(this.#cut);
    return new Promise((resolve, reject) => {
      const stop =
        timeoutMs === undefined || patientWith?.includes(name) === true
          ? () => undefined
          : clock.setTimer(timeoutMs, () => fail(deadlineExceeded(`${whom}.${name}`, timeoutMs)));
      const fail = (error: Error): void => {
        stop();
        this.#waiting.delete(fail);
        reject(error);
      };
      this.#waiting.add(fail);
      sealed.then((result) => {
        stop();
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
