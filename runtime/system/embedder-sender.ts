import type { AskOptions, Sender, Target, TellOptions } from '../agent/context.ts';
import type { MailSender } from '../cell/mail-sender.ts';
import type { Identity } from '../cell/mail-maker.ts';
import { leadToCaller } from '../protocol/caller-stack.ts';
import { parseInput } from '../protocol/capability.ts';
import { notSerialisable, type OrreryError } from '../protocol/errors.ts';
import { findUnserialisable } from '../protocol/json.ts';
import { verdictOf } from '../protocol/policy.ts';
import type { RoutingResult } from '../protocol/routing-result.ts';
import { refusedResult } from '../routing/mail-judge.ts';
import { checkAsk, checkTell } from './given-sends.ts';

type AnyTarget = Target<unknown, unknown>;

/** `endOf` says why nothing can be sent any more. */
export interface EmbedderSenderDeps {
  readonly mailSender: MailSender;
  readonly endOf: () => OrreryError | undefined;
}

/**
 * Sends for the embedder: what it gives is checked here, whole, before any of it is sent. Its functions are its own
 * properties, so that a system and an account have them by taking them over.
 */
export function embedderSender({ mailSender, endOf }: EmbedderSenderDeps, identity: Identity): Sender {
  const refusalOf = (target: string | AnyTarget, payload: unknown): OrreryError | undefined =>
    endOf() ?? faultOf(target, payload);
  const requireAsk = (target: AnyTarget, input: unknown, options: AskOptions): void => {
    checkAsk(target, options);
    const refusal = refusalOf(target, input);
    if (refusal !== undefined) throw refusal;
  };
  const sender: Sender = {
    async ask<Input, Output>(
      target: Target<Input, Output>,
      input: Input,
      options: AskOptions = {},
    ): Promise<Output> {
      try {
        requireAsk(target as AnyTarget, input, options);
        return await mailSender.ask(identity, target, input, options, undefined);
      } catch (error) {
        throw leadToCaller(error, sender.ask);
      }
    },
    stream<Input, Output>(
      target: Target<Input, Output>,
      input: Input,
      options: AskOptions = {},
    ): AsyncIterable<Output> {
      requireAsk(target as AnyTarget, input, options);
      return mailSender.stream(identity, target, input, options, undefined);
    },
    tell(target: string | AnyTarget, payload: unknown, options: TellOptions = {}): RoutingResult {
      checkTell(target, options);
      const refusal = refusalOf(target, payload);
      if (refusal !== undefined) return refusedResult(recipientOf(target), verdictOf(refusal));
      return mailSender.tell(identity, target, payload, options, undefined);
    },
    async tellWhenRoom(
      target: string | AnyTarget,
      payload: unknown,
      options: TellOptions = {},
    ): Promise<RoutingResult> {
      checkTell(target, options);
      const refusal = refusalOf(target, payload);
      if (refusal !== undefined) return refusedResult(recipientOf(target), verdictOf(refusal));
      return mailSender.tellWhenRoom(identity, target, payload, options, undefined);
    },
  };
  return sender;
}

/** Why a payload cannot be sent: it does not fit its capability, or JSON cannot say it. */
export function faultOf(target: string | AnyTarget, payload: unknown): OrreryError | undefined {
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

/** The agent or capability that is sent to. */
function recipientOf(target: string | AnyTarget): string {
  if (typeof target === 'string') return target;
  return 'agent' in target ? target.agent : target.id;
}
