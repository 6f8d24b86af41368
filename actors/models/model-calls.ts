import { cancelled, isOrreryError, type OrreryError } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { Span } from '../../runtime/protocol/tracer.ts';
import { type HandlingContext, clientOf } from '../../runtime/public.ts';
import { callModel, type ModelRequest } from './call-model.ts';
import type { OpenedModel } from './model-endpoint.ts';
import { failureOf, type ModelFailure } from './model-failure.ts';
import { ModelReply } from './model-reply.ts';
import { type Amount, type Tokens, costOf } from './prices.ts';
import { waitMsAfter } from './retry-after.ts';
import type { CallBudget } from './call-budget.ts';

/**
 * - `attempts`     how often one call is tried, its first attempt included.
 * - `mayBillTwice` it is also tried again after a failure that may be billed.
 */
export interface AttemptLimits {
  readonly attempts: number;
  readonly mayBillTwice: boolean;
}

export interface ModelCallsDeps {
  readonly ctx: HandlingContext<never>;
  readonly model: OpenedModel;
  readonly budget: CallBudget;
  readonly limits: AttemptLimits;
}

/** What is asked of the model. */
export type CalledModel = Pick<
  ModelRequest,
  'instructions' | 'said' | 'tools' | 'answer' | 'maxOutputTokens' | 'settings' | 'streams'
>;

/**
 * - `estimate`   what the call may cost; paid before each attempt. `fromHeld`: the first one out of what is set aside.
 * - `untilMs`    when an answer is of no more use: no attempt is waited for beyond that.
 * - `signal`     ends the call, beside the end of the work.
 */
export interface CallTerms {
  readonly estimate: Tokens;
  readonly fromHeld: boolean;
  readonly untilMs: number;
  readonly signal: AbortSignal;
  readonly onText: (text: string) => void;
}

/** The calls of one handling: paid for, tried again where that may help, and told of. */
export class ModelCalls {
  readonly #deps: ModelCallsDeps;

  constructor(deps: ModelCallsDeps) {
    this.#deps = deps;
  }

  /**
   * What the model answers. Rejects with BUDGET_EXCEEDED before anything is sent; with RATE_LIMITED, REMOTE_UNREACHABLE or
   * REMOTE_FAILED when no attempt went well; with the reason of the signal.
   */
  async ask(asked: CalledModel, terms: CallTerms): Promise<ModelReply> {
    const { ctx, limits } = this.#deps;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#attempt(asked, terms, attempt);
      if ('text' in outcome) return outcome;
      const { isPassing, mayBeBilled, error, isTold } = outcome;
      const isWorthIt = isPassing && !isTold && (!mayBeBilled || limits.mayBillTwice);
      if (!isWorthIt || attempt >= limits.attempts) throw error;
      const waitMs = waitMsAfter(attempt, outcome.retryAfterMs, () => ctx.random());
      if (ctx.now() + waitMs >= terms.untilMs) throw error;
      await ctx.sleep(waitMs);
      terms.signal.throwIfAborted();
    }
  }

  /** `isTold`: text of the reply was streamed already, and cannot be taken back. */
  async #attempt(
    asked: CalledModel,
    terms: CallTerms,
    attempt: number,
  ): Promise<ModelReply | (ModelFailure & { readonly isTold: boolean })> {
    const { ctx, model, budget } = this.#deps;
    const startedAtMs = ctx.now();
    const taken = budget.take(terms.estimate, terms.fromHeld && attempt === 1);
    const span = spanOf(ctx, model.name, attempt);
    let isTold = false;
    const onText = (text: string): void => {
      if (text === '') return;
      isTold = true;
      terms.onText(text);
    };
    const tell = (used: Amount, error?: OrreryError): void =>
      noteCall(ctx, { model: model.name, attempt, durationMs: ctx.now() - startedAtMs, used, error });
    const call = (): Promise<unknown> => this.#effect(asked, terms, onText);
    try {
      const reply = readReply(ctx.self, await (span === undefined ? call() : span.run(call)));
      span?.set({
        'gen_ai.usage.input_tokens': reply.usage?.inputTokens,
        'gen_ai.usage.output_tokens': reply.usage?.outputTokens,
      });
      span?.end();
      const used = this.#usedBy(reply, taken);
      budget.reconcile(taken, used);
      tell(used);
      // What answers in place of a model tells its text at once.
      if (!isTold) onText(reply.text);
      return reply;
    } catch (error) {
      const stop = this.#stopIn(error, terms);
      const failure = stop ?? failureOf(error, { ...model, nowMs: ctx.now() });
      span?.end(failure.error);
      const used = failure.mayBeBilled ? taken : NOTHING;
      budget.reconcile(taken, used);
      tell(used, failure.error);
      if (stop !== undefined) throw stop.error;
      return { ...failure, isTold };
    }
  }

  #effect(asked: CalledModel, terms: CallTerms, onText: (text: string) => void): Promise<unknown> {
    const { ctx, model } = this.#deps;
    return ctx.effect(`model ${ctx.self}`, (signal) =>
      callModel({
        ...asked,
        model: model.model,
        signal: AbortSignal.any([signal, terms.signal]),
        onText,
        newId: () => ctx.newId(),
        nowMs: () => ctx.now(),
      }),
    );
  }

  /** What the provider has counted; without that, what was estimated. */
  #usedBy({ usage }: ModelReply, taken: Amount): Amount {
    if (usage === undefined) return taken;
    const { inputTokens: input, outputTokens: output, cachedInputTokens } = usage;
    const cached = cachedInputTokens === undefined ? {} : { cachedInput: cachedInputTokens };
    return this.#deps.budget.amountOf({ input, output, ...cached });
  }

  /** The failure of a call that was cut short. Nobody knows what the provider counts of it, so the estimate stands. */
  #stopIn(error: unknown, { signal }: CallTerms): ModelFailure | undefined {
    const { ctx } = this.#deps;
    const aborted = [ctx.signal, signal].find((one) => one.aborted);
    if (aborted !== undefined) {
      const reason: unknown = aborted.reason;
      const why = isOrreryError(reason) ? reason : cancelled(`The work of ${ctx.self}`);
      return { error: why, isPassing: false, mayBeBilled: true, retryAfterMs: undefined };
    }
    if (!isOrreryError(error)) return undefined;
    return { error, isPassing: false, mayBeBilled: false, retryAfterMs: undefined };
  }
}

const NOTHING: Amount = { tokens: 0, micros: 0 };

/** Checks a reply that a simulation gave. */
function readReply(agentId: string, reply: unknown): ModelReply {
  return parseOptions(ModelReply, reply, `effects["model ${agentId}"]`);
}

/** The span of one attempt, where somebody traces: nobody does for an agent in a process of its own. */
function spanOf(ctx: HandlingContext<never>, model: string, attempt: number): Span | undefined {
  try {
    return clientOf(ctx).seams.tracer?.start({
      name: `chat ${model}`,
      kind: 'client',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': model,
        'gen_ai.agent.id': ctx.self,
        'orrery.attempt': attempt,
      },
    });
  } catch {
    // No client.
    return undefined;
  }
}

/** One attempt at a call of a model. */
interface NotedCall {
  readonly model: string;
  readonly attempt: number;
  readonly durationMs: number;
  readonly used: Amount;
  readonly error: OrreryError | undefined;
}

/** Notes the call as an event, for operators. An agent in a process of its own cannot. */
function noteCall(ctx: HandlingContext<never>, call: NotedCall): void {
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
