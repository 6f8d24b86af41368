import type { OrreryError } from '../../runtime/protocol/errors.ts';
import { clientOf, type HandlingContext } from '../../runtime/public.ts';
import { type Amount, costOf } from './prices.ts';

/** One attempt at a call of a model. */
export interface NotedCall {
  readonly model: string;
  readonly attempt: number;
  readonly durationMs: number;
  readonly used: Amount;
  readonly error: OrreryError | undefined;
}

/** Tells operators of it, as an event that is counted; an agent in a process of its own has nobody to tell. */
export function noteCall(ctx: HandlingContext<never>, call: NotedCall): void {
  const { model, attempt, durationMs, used, error } = call;
  const { envelope, self } = ctx;
  const { correlationId } = envelope;
  const capability = envelope.metadata?.capability;
  const about = {
    type: 'model-call',
    agentId: self,
    envelopeId: envelope.id,
    model,
    attempt,
    duration: durationMs,
    ...costOf(used),
    success: error === undefined,
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(capability === undefined ? {} : { capability }),
    ...(error === undefined ? {} : { errorCode: error.code, reason: error.message }),
  } as const;
  try {
    clientOf(ctx).note(about);
  } catch {
    // No client.
  }
}
