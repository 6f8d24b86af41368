import type { Capability } from '../protocol/capability.ts';
import type { A2AEnvelope, A2AMessageType, Delivery } from '../protocol/envelope.ts';
import type { RoutingResult } from '../protocol/routing-result.ts';

/** Whom to ask: whoever offers the capability, or one agent by id. */
export type Target<Input, Output> =
  | Capability<Input, Output, unknown, unknown>
  | { readonly agent: string; readonly capability: Capability<Input, Output, unknown, unknown> };

/** How far an asked agent has come: `fraction` in [0, 1], `note` in its own words. */
export interface Progress {
  readonly fraction: number;
  readonly note?: string;
}

/**
 * - `timeoutMs`     how long to wait; never longer than the envelope being handled allows. @default 30_000
 * - `signal`        cancels the asked work and everything it caused.
 * - `justification` why a lower tier asks a higher one.
 * - `correlationId` the thread this belongs to. @default that of the envelope being handled, else the new id
 * - `delivery`      overrides the recipient's choice.
 * - `whenFull`      `reject` fails with MAILBOX_FULL, `park` waits for room until the deadline. @default 'reject'
 */
export interface AskOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly justification?: string;
  readonly correlationId?: string;
  readonly delivery?: Delivery;
  readonly whenFull?: 'reject' | 'park';
  readonly onProgress?: (progress: Progress) => void;
}

/** `type` is the envelope's message type. @default 'notification' */
export interface TellOptions {
  readonly type?: A2AMessageType;
  readonly justification?: string;
  readonly correlationId?: string;
  readonly inReplyTo?: string;
  readonly deadlineAtMs?: number;
  readonly delivery?: Delivery;
}

/** Sending, in the name of one sender. Everybody who may send has these: an agent's context, and the system itself. */
export interface Sender {
  /**
   * Asks and waits for the answer.
   *
   * Rejects with an `OrreryError`: what the router refused (AGENT_NOT_FOUND, CAPABILITY_NOT_FOUND, TIER_VIOLATION, ...),
   * MAILBOX_FULL, ACTOR_DIED, THREAD_DIED, DEADLINE_EXCEEDED, CANCELLED, POISON, REFUSED, NOT_SERIALISABLE,
   * INVALID_PAYLOAD.
   */
  ask<Input, Output>(
    target: Target<Input, Output>,
    input: NoInfer<Input>,
    options?: AskOptions,
  ): Promise<Output>;

  /** Asks for a stream; ends when the handler ends, throws what `ask` rejects with. Slow readers slow the handler. */
  stream<Input, Output>(
    target: Target<Input, Output>,
    input: NoInfer<Input>,
    options?: AskOptions,
  ): AsyncIterable<Output>;

  /** Sends without waiting. A refusal is in the result; only a target or options that are none throw INVALID_OPTIONS. */
  tell<Input>(
    target: string | Target<Input, unknown>,
    payload: NoInfer<Input>,
    options?: TellOptions,
  ): RoutingResult;

  /** Like `tell`, but waits for room in a full mailbox instead of returning MAILBOX_FULL. */
  tellWhenRoom<Input>(
    target: string | Target<Input, unknown>,
    payload: NoInfer<Input>,
    options?: TellOptions,
  ): Promise<RoutingResult>;
}

/** What an agent can do at any time of its life. */
export interface ActorContext<State = undefined> extends Sender {
  /** The agent's own id. */
  readonly self: string;
  /** What `onStart` returned; new after each restart. */
  readonly state: State;
  /** Aborts when the work in hand is cancelled, its deadline passes, or the agent stops. */
  readonly signal: AbortSignal;
  /** Unix milliseconds. */
  now(): number;
  /** A number in [0, 1). */
  random(): number;
  newId(): string;
  /** Waits; rejects with CANCELLED when `signal` aborts. */
  sleep(ms: number): Promise<void>;
  /** Reaches the outside world under a name, so that a simulation can answer instead. */
  effect<Result>(name: string, run: (signal: AbortSignal) => Result | Promise<Result>): Promise<Result>;
  /**
   * Runs the default export of `module` on `input` in the CPU pool (piscina); both are structured clones.
   * Ends the pool's task when `signal` aborts.
   */
  offload<Input, Output>(module: URL, input: Input): Promise<Output>;
}

/** What a handler is given beside its input. */
export interface HandlingContext<State = undefined> extends ActorContext<State> {
  /** The envelope in hand. */
  readonly envelope: A2AEnvelope;
  /** Tells the asker, and whoever watches, how far the work is. */
  progress(fraction: number, note?: string): void;
  /** Answers the envelope; for XState logic. A handler answers by returning. */
  reply(output: unknown): void;
  /** Says that the envelope is handled; for XState logic. */
  settle(): void;
}
