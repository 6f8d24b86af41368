import type { Mail } from '../mailbox/mail.ts';
import type { Transport, TransportSpec } from '../protocol/transport.ts';
import type { CpuPool, OffloadOptions } from './offload.ts';

/** Who calls out of the system: an agent, with the envelope in hand, if there is one. */
export interface OutsideCall {
  readonly self: string;
  readonly mail: Mail | undefined;
  /** Aborts when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/** Answers in place of what is outside the system. */
export interface Outside {
  /** What the effect of this name comes to. */
  effect(by: OutsideCall, name: string): Promise<unknown>;
  /** What the default export of `module` returns for `input`. */
  offload(by: OutsideCall, module: URL, input: unknown): Promise<unknown>;
  /** The transport to other nodes that stands for what a spec says. @default it is imported */
  transport?(spec: TransportSpec): Promise<Transport>;
}

/** What the agents of one thread reach outside the system: it is reached, or somebody answers in its place. */
export class OutsideCalls {
  readonly #inPlace: Outside | undefined;
  readonly #cpu: CpuPool;

  constructor(inPlace: Outside | undefined, cpu: CpuPool) {
    this.#inPlace = inPlace;
    this.#cpu = cpu;
  }

  async effect<Result>(
    by: OutsideCall,
    name: string,
    run: (signal: AbortSignal) => Result | Promise<Result>,
  ): Promise<Result> {
    return this.#inPlace === undefined
      ? await run(by.signal)
      : ((await this.#inPlace.effect(by, name)) as Result);
  }

  offload<Input, Output>(
    by: OutsideCall,
    module: URL,
    { input, ...options }: OffloadOptions & { readonly input: Input },
  ): Promise<Output> {
    const answer =
      this.#inPlace?.offload(by, module, input) ??
      this.#cpu.run(module, input, { ...options, signal: by.signal });
    return answer as Promise<Output>;
  }
}
