import type { OffloadOptions } from './offload.ts';
import { bindMethods, type MethodName } from '../protocol/bind-methods.ts';
import type { Budget, Cost } from '../protocol/budget.ts';
import type { Capability } from '../protocol/capability.ts';
import type { A2AEnvelope, A2AMessageType, Delivery } from '../protocol/envelope.ts';
import type { RoutingResult } from '../protocol/routing-result.ts';
import type { Requester } from '../protocol/requester.ts';
import type { Taint } from '../protocol/taint.ts';

/** Whom to ask: whoever offers the capability, or one agent by id. */
export type Target<Input, Output> =
  | Capability<Input, Output, unknown, unknown>
  | { readonly agent: string; readonly capability: Capability<Input, Output, unknown, unknown> };

/**
 * How far an asked agent has come: `fraction` in [0, 1], `note` its own text, `partial` what a checkpoint keeps, `report`
 * what it reports in between, `dropped` how many reports came before the next one and are not known any more: of an agent
 * that has answered, and is asked the same again.
 */
export interface Progress {
  readonly fraction: number;
  readonly note?: string;
  readonly partial?: unknown;
  readonly report?: unknown;
  readonly dropped?: number;
}

/**
 * - `timeoutMs`     how long to wait; never longer than the envelope being handled allows. @default 30_000
 * - `signal`        cancels the asked work and everything it caused.
 * - `justification` why a lower tier asks a higher one.
 * - `correlationId` the thread this belongs to. @default that of the envelope being handled, else the new id
 * - `delivery`      overrides the recipient's choice.
 * - `whenFull`      `reject` fails with MAILBOX_FULL, `park` waits for room until the deadline. @default 'reject'
 * - `budget`        what may be spent on it, split off from what there is for the envelope being handled; refused with
 *                   BUDGET_EXCEEDED when that is less. @default it draws on that itself
 * - `resumeFrom`    what an attempt elsewhere has kept: its handler has it as `ctx.resumeFrom`.
 * - `schema`        by which JSON Schema the payload is made, such as an id of AgentMesh: what checks payloads goes by it.
 * - `metadata`      what else goes with the envelope: its handler has it in `ctx.envelope.metadata`. JSON.
 * - `taint`         where what is sent came from outside, beside what is known of that: only ever adds.
 * - `onSent`        is told the envelope's id when it is on its way.
 * - `onProgress`    is told of checkpoints and reports, too.
 * - `onTaint`       is told, before what comes back, where that came from outside: once for each part of it that did.
 */
export interface AskOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly justification?: string;
  readonly correlationId?: string;
  readonly delivery?: Delivery;
  readonly whenFull?: 'reject' | 'park';
  readonly budget?: Budget;
  readonly resumeFrom?: unknown;
  readonly schema?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly taint?: Taint;
  readonly onSent?: (envelopeId: string) => void;
  readonly onProgress?: (progress: Progress) => void;
  readonly onTaint?: (taint: Taint) => void;
}

/** `type` is the envelope's message type, `budget`, `schema` and `taint` as in `AskOptions`. @default type 'notification' */
export interface TellOptions {
  readonly type?: A2AMessageType;
  readonly justification?: string;
  readonly correlationId?: string;
  readonly inReplyTo?: string;
  readonly deadlineAtMs?: number;
  readonly delivery?: Delivery;
  readonly budget?: Budget;
  readonly schema?: string;
  readonly taint?: Taint;
}

/** Sending, in the name of one sender. Everybody who may send has these: an agent's context, and the system itself. */
export interface Sender {
  /**
   * Asks and waits for the answer.
   *
   * Rejects with an `OrreryError`: what the router refused (AGENT_NOT_FOUND, CAPABILITY_NOT_FOUND, TIER_VIOLATION, ...),
   * MAILBOX_FULL, HANDLER_FAILED, ACTOR_DIED, THREAD_DIED, DEADLINE_EXCEEDED, CANCELLED, POISON, REFUSED, NOT_SERIALISABLE,
   * INVALID_PAYLOAD, BUDGET_EXCEEDED, HOP_LIMIT. What the last checkpoint of the failed work kept is in `details.partial`.
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

/** What an agent can do at any time of its life. Its methods can be taken from it: `const { ask, sleep } = ctx`. */
export interface ActorContext<State = undefined> extends Sender {
  /** The agent's own id. */
  readonly self: string;
  /** What `onStart` returned; new after each restart. */
  readonly state: State;
  /** Aborts when the work in hand is cancelled, its deadline passes, or the agent stops. */
  readonly signal: AbortSignal;
  /**
   * Where what is in hand, or what the agent took in before, came from outside; undefined when nothing did. All that is sent
   * and answered from here has it.
   */
  readonly taint: Taint | undefined;
  /**
   * The caller outside for whom the work in hand is done, with tenant and roles by its credentials; undefined where nobody
   * outside wanted it. All that is sent from here is for the same.
   */
  readonly requester: Requester | undefined;
  /**
   * Says that something was taken in from outside, such as `web:example.org`: of whatever a handler reads from elsewhere than
   * the system, before it does anything with that. Throws INVALID_OPTIONS on what is no name.
   */
  markOutside(source: string): void;
  /**
   * Says that neither the agent's state nor the rest of this work has anything in it any more of what came from outside, and
   * why. That is a security event, with agent, sources and reason. Throws INVALID_OPTIONS without a reason, and in a process
   * of its own NOT_PERMITTED unless its options permit it (`mayDeclareClean`).
   */
  declareClean(reason: string): void;
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
   * Runs the default export of `module` on `input` in the CPU pool (piscina); both are structured clones. `keepsLoaded`: what
   * the module has loaded is to be there for its next task.
   * Ends the pool's task when `signal` aborts.
   */
  offload<Input, Output>(module: URL, input: Input, options?: OffloadOptions): Promise<Output>;
}

/** What a handler is given beside its input. */
export interface HandlingContext<State = undefined> extends ActorContext<State> {
  /** The envelope in hand. */
  readonly envelope: A2AEnvelope;
  /** What may still be spent on this envelope and everything it causes; what is absent is unlimited. */
  readonly budget: Budget;
  /** What the last checkpoint of an earlier attempt kept, here or elsewhere; undefined when none was kept. */
  readonly resumeFrom: unknown;
  /** Tells the asker, and whoever watches, how far the work is. */
  progress(fraction: number, note?: string): void;
  /**
   * Tells the asker something in between, for a protocol that the two have: as `onProgress`, in order, and before the answer.
   * Who asks again for what was answered already hears it again. Throws NOT_SERIALISABLE.
   */
  report(what: unknown): void;
  /**
   * Takes what a piece of work will cost out of the budget, before it is done: all of it, or nothing and throws
   * BUDGET_EXCEEDED, saying what was asked for and what is left. What turns out not to be needed is given back by
   * `refund`.
   */
  spend(cost: Cost): void;
  /** Gives back what was spent here and not used. Throws INVALID_OPTIONS for more than that. */
  refund(cost: Cost): void;
  /**
   * Keeps a partial result; the last one counts. It is told to the asker as progress; if the work fails it is in the
   * error's `details.partial` and in the dead letter, and another attempt has it as `resumeFrom`. Throws
   * NOT_SERIALISABLE.
   */
  checkpoint(partial: unknown): void;
  /** Answers the envelope; for XState logic. A handler answers by returning. */
  reply(output: unknown): void;
  /** Says that the envelope is handled; for XState logic. */
  settle(): void;
  /**
   * Ends the envelope with an error; for XState logic. It is what throwing is to a handler: an error with a code, such as
   * `refused('…')`, only declines; any other ends the actor.
   */
  fail(error: unknown): void;
}

/** Every one of them: one that is missing here does not compile. */
const METHODS: Readonly<Record<MethodName<HandlingContext<unknown>>, true>> = {
  ask: true,
  stream: true,
  tell: true,
  tellWhenRoom: true,
  markOutside: true,
  declareClean: true,
  now: true,
  random: true,
  newId: true,
  sleep: true,
  effect: true,
  offload: true,
  progress: true,
  report: true,
  spend: true,
  refund: true,
  checkpoint: true,
  reply: true,
  settle: true,
  fail: true,
};

/** Has what agents are given as `ctx` be one whose methods can be taken from it. */
export const bindContext = (prototype: HandlingContext<unknown>): void =>
  bindMethods(prototype, Object.keys(METHODS) as (keyof typeof METHODS)[]);
