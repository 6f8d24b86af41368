import type { HandlerEntry } from '../../agent/agent-definition.ts';
import {
  type AskOptions,
  bindContext,
  type HandlingContext,
  type Target,
  type TellOptions,
} from '../../agent/context.ts';
import type { OffloadOptions, OffloadTerms } from '../../agent/offload.ts';
import { sleepUntil } from '../../protocol/sleep-until.ts';
import type { Budget, Cost } from '../../protocol/budget.ts';
import type { A2AEnvelope } from '../../protocol/envelope.ts';
import { cancelled, invalidOptions, notSerialisable } from '../../protocol/errors.ts';
import { findUnserialisable } from '../../protocol/json.ts';
import { requireFunction } from '../../protocol/parse-options.ts';
import type { Requester } from '../../protocol/requester.ts';
import type { RoutingResult } from '../../protocol/routing-result.ts';
import type { Seams } from '../../protocol/seams.ts';
import type { Taint } from '../../protocol/taint.ts';
import type { GivenChildFrame } from '../child-frame.ts';
import type { HostConnection } from './host-connection.ts';
import type { ChildRequests } from './child-requests.ts';

/** What a handling needs of the agent that it belongs to. */
export interface HandlingAgent {
  readonly self: string;
  readonly state: unknown;
  readonly host: HostConnection;
  readonly requests: ChildRequests;
  readonly seams: Seams;
  offload(module: URL, input: unknown, terms: OffloadTerms): Promise<unknown>;
  /** The handling is done and `output` is its answer. */
  finish(handling: ChildHandling, output: unknown): void;
  /** The handling ends with an error. */
  fail(handling: ChildHandling, error: unknown): void;
}

/** The envelope that a handling is given, and how it is to be answered. */
export interface GivenWork {
  readonly n: number;
  readonly envelope: A2AEnvelope;
  readonly isAsked: boolean;
  readonly isRead: boolean;
}

type AnyTarget = Target<unknown, unknown>;
type CallFrame = GivenChildFrame & { readonly t: 'call' };

/** What an agent's code sees as `ctx` in a process of its own: everything that concerns others is done by the host. */
export class ChildHandling implements HandlingContext<never> {
  readonly n: number;
  readonly work: GivenWork | undefined;
  entry: HandlerEntry | undefined = undefined;
  isOver = false;
  /** Chunks of its stream that may still be sent, and who waits for more. */
  credit = 0;
  wake: () => void = () => undefined;
  readonly #agent: HandlingAgent;
  #abort: AbortController | undefined;
  #cutShort: Error | undefined;

  static {
    bindContext(ChildHandling.prototype);
  }

  constructor(agent: HandlingAgent, work: GivenWork | undefined) {
    this.#agent = agent;
    this.work = work;
    this.n = work?.n ?? 0;
  }

  get self(): string {
    return this.#agent.self;
  }

  get state(): never {
    return this.#agent.state as never;
  }

  get envelope(): A2AEnvelope {
    return this.work?.envelope as A2AEnvelope;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#cutShort !== undefined) this.#abort.abort(this.#cutShort);
      else if (this.isOver) this.#abort.abort(cancelled(`The work of ${this.self}`));
    }
    return this.#abort.signal;
  }

  /** Its time is over. */
  cutOff(reason: Error): void {
    this.#cutShort ??= reason;
    this.#abort?.abort(reason);
    this.wake();
  }

  now(): number {
    return this.#agent.seams.clock.now();
  }

  random(): number {
    return this.#agent.seams.random();
  }

  newId(): string {
    return this.#agent.seams.newId();
  }

  sleep(ms: number): Promise<void> {
    if (typeof ms !== 'number' || Number.isNaN(ms))
      return Promise.reject(invalidOptions('ms', ms, 'a number of milliseconds'));
    return sleepUntil(this.#agent.seams.clock, ms, this.signal);
  }

  async effect<Result>(
    _name: string,
    run: (signal: AbortSignal) => Result | Promise<Result>,
  ): Promise<Result> {
    requireFunction('run', run);
    this.signal.throwIfAborted();
    return await run(this.signal);
  }

  offload<Input, Output>(module: URL, input: Input, options: OffloadOptions = {}): Promise<Output> {
    return this.#agent.offload(module, input, { ...options, signal: this.signal }) as Promise<Output>;
  }

  ask<Input, Output>(target: Target<Input, Output>, input: Input, options: AskOptions = {}): Promise<Output> {
    return this.#agent.requests.ask(this.n, target as AnyTarget, input, options) as Promise<Output>;
  }

  stream<Input, Output>(
    target: Target<Input, Output>,
    input: Input,
    options: AskOptions = {},
  ): AsyncIterable<Output> {
    const chunks = this.#agent.requests.stream(this.n, target as AnyTarget, input, options);
    return chunks as AsyncIterable<Output>;
  }

  tell(target: string | AnyTarget, payload: unknown, options: TellOptions = {}): RoutingResult {
    return this.#agent.requests.tell(this.n, target, payload, options);
  }

  tellWhenRoom(
    target: string | AnyTarget,
    payload: unknown,
    options: TellOptions = {},
  ): Promise<RoutingResult> {
    return this.#agent.requests.send(this.n, target, payload, options);
  }

  get budget(): Budget {
    return this.#call('budget') as Budget;
  }

  get resumeFrom(): unknown {
    return this.#call('resumeFrom');
  }

  get requester(): Requester | undefined {
    return (this.envelope as A2AEnvelope | undefined)?.metadata?.requester;
  }

  get taint(): Taint | undefined {
    return this.#call('taint') as Taint | undefined;
  }

  markOutside(source: string): void {
    this.#call('markOutside', source);
  }

  declareClean(reason: string): void {
    this.#call('declareClean', reason);
  }

  spend(cost: Cost): void {
    this.#call('spend', cost);
  }

  refund(cost: Cost): void {
    this.#call('refund', cost);
  }

  checkpoint(partial: unknown): void {
    this.#call('checkpoint', partial);
  }

  progress(fraction: number, note?: string): void {
    if (!Number.isFinite(fraction)) throw invalidOptions('fraction', fraction, 'a finite number');
    if (note !== undefined && typeof note !== 'string') throw invalidOptions('note', note, 'a text');
    if (this.n > 0)
      this.#agent.host.say({ t: 'progress', n: this.n, fraction, ...(note === undefined ? {} : { note }) });
  }

  report(what: unknown): void {
    const fault = what === undefined ? { path: 'what', kind: 'undefined' } : findUnserialisable(what, 'what');
    if (fault !== undefined) throw notSerialisable(fault.path, fault.kind);
    if (this.n > 0) this.#agent.host.say({ t: 'report', n: this.n, what });
  }

  reply(output: unknown): void {
    this.#agent.finish(this, output);
  }

  settle(): void {
    this.#agent.finish(this, undefined);
  }

  fail(error: unknown): void {
    this.#agent.fail(this, error);
  }

  #call(what: Exclude<CallFrame['what'], 'tell'>, input?: unknown): unknown {
    const isStructured = this.entry?.capability.carries === 'structured';
    return this.#agent.host.call({ t: 'call', n: this.n, what, input }, isStructured);
  }
}
