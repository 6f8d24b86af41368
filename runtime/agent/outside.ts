import type { Mail } from '../mailbox/mail.ts';

/** Who reaches out of the system: an agent, with the envelope in its hands, if there is one. */
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
}
