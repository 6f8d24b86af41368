import type { AskOptions, Sender, Target, TellOptions } from '../actor/context.ts';
import type { Courier } from '../actor/courier.ts';
import type { Identity } from '../actor/identity.ts';
import { parseInput } from '../protocol/capability.ts';
import { notSerialisable, type OrreryError } from '../protocol/errors.ts';
import { findUnserialisable } from '../protocol/json-safety.ts';
import type { RoutingResult } from '../protocol/routing-result.ts';
import { checkAsk, checkTell } from './given-sends.ts';

/** `endOf` says why nothing can be sent any more. */
export interface EmbedderSenderDeps {
  readonly courier: Courier;
  readonly endOf: () => OrreryError | undefined;
}

/** Sends for the embedder: what it gives is checked here, whole, before any of it is sent. */
export class EmbedderSender implements Sender {
  readonly #deps: EmbedderSenderDeps;
  readonly #identity: Identity;

  constructor(deps: EmbedderSenderDeps, identity: Identity) {
    this.#deps = deps;
    this.#identity = identity;
  }

  ask<Input, Output>(target: Target<Input, Output>, input: Input, options: AskOptions = {}): Promise<Output> {
    try {
      this.#checkAsk(target as Target<unknown, unknown>, input, options);
    } catch (refusal) {
      return Promise.reject(refusal);
    }
    return this.#deps.courier.ask(this.#identity, target, input, options, undefined);
  }

  stream<Input, Output>(
    target: Target<Input, Output>,
    input: Input,
    options: AskOptions = {},
  ): AsyncIterable<Output> {
    this.#checkAsk(target as Target<unknown, unknown>, input, options);
    return this.#deps.courier.stream(this.#identity, target, input, options, undefined);
  }

  tell(
    target: string | Target<unknown, unknown>,
    payload: unknown,
    options: TellOptions = {},
  ): RoutingResult {
    checkTell(target, options);
    const refusal = this.#deps.endOf() ?? faultOf(target, payload);
    if (refusal !== undefined) return refusedResult(target, refusal);
    return this.#deps.courier.tell(this.#identity, target, payload, options, undefined);
  }

  async tellWhenRoom(
    target: string | Target<unknown, unknown>,
    payload: unknown,
    options: TellOptions = {},
  ): Promise<RoutingResult> {
    checkTell(target, options);
    const refusal = this.#deps.endOf() ?? faultOf(target, payload);
    if (refusal !== undefined) return refusedResult(target, refusal);
    return this.#deps.courier.tellWhenRoom(this.#identity, target, payload, options, undefined);
  }

  #checkAsk(target: Target<unknown, unknown>, input: unknown, options: AskOptions): void {
    checkAsk(target, options);
    const refusal = this.#deps.endOf() ?? faultOf(target, input);
    if (refusal !== undefined) throw refusal;
  }
}

/** Why a payload cannot be sent: it does not fit its capability, or JSON cannot say it. */
export function faultOf(
  target: string | Target<unknown, unknown>,
  payload: unknown,
): OrreryError | undefined {
  const capability = typeof target === 'string' ? undefined : 'agent' in target ? target.capability : target;
  try {
    if (capability !== undefined) parseInput(capability, payload);
  } catch (error) {
    return error as OrreryError;
  }
  return capability?.carries === 'structured' ? undefined : jsonFaultOf('payload', payload);
}

export function jsonFaultOf(field: string, value: unknown): OrreryError | undefined {
  const fault = findUnserialisable(value, field);
  return fault === undefined ? undefined : notSerialisable(fault.path, fault.kind);
}

export function refusedResult(
  target: string | Target<unknown, unknown>,
  { code, message }: OrreryError,
): RoutingResult {
  const targetAgentId = typeof target === 'string' ? target : 'agent' in target ? target.agent : target.id;
  return { delivered: false, path: 'local', targetAgentId, latencyMs: 0, error: message, errorCode: code };
}
