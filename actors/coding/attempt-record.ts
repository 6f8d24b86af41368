import { isOrreryError, OrreryError } from '../../runtime/protocol/errors.ts';
import { HIDDEN, hideSecrets, hideSecretsIn } from '../../runtime/protocol/hide-secrets.ts';
import type { HandlingContext } from '../../runtime/public.ts';
import type { CodeChangeResult, CodingLimits } from './code-change.ts';
import type { CodingEvent, CodingUsage } from './coding-event.ts';
import { CodingTally, tokensOf } from './coding-tally.ts';
import { told } from './coding-text.ts';
import { ReportLimit } from './report-limit.ts';

/** Tools after which half of the work is taken to be done. Nobody knows how many there will be. */
const HALFWAY = 20;
/** The most that is spent at once, as budgets have it. */
const MAX_TOKENS = 1e14;
const MAX_COST_USD = 1e8;

/**
 * - `name`    of the agent, as errors have it.
 * - `secrets` that the program was given: no report has them.
 * - `stop`    ends the attempt, with the reason.
 */
export interface AttemptRecordDeps {
  readonly ctx: HandlingContext<never>;
  readonly name: string;
  readonly limits: CodingLimits;
  readonly secrets: readonly string[];
  readonly stop: (error: unknown) => void;
}

/** What is known of one attempt: it is reported and spent as it comes, and stops the attempt at a limit. */
export class AttemptRecord {
  readonly tally = new CodingTally();
  readonly #deps: AttemptRecordDeps;
  readonly #reports = new ReportLimit();
  #spent = { tokens: 0, costUsd: 0 };

  constructor(deps: AttemptRecordDeps) {
    this.#deps = deps;
  }

  get name(): string {
    return this.#deps.name;
  }

  /** Ends the attempt, with the reason. */
  stop(error: unknown): void {
    this.#deps.stop(error);
  }

  takeAll(events: readonly CodingEvent[]): void {
    for (const event of events) this.take(event);
  }

  /** Takes it without secrets, so that neither reports, answers nor errors have any. */
  take(event: CodingEvent): void {
    const safe = hideSecretsIn(this.#withoutOwn(event)) as CodingEvent;
    this.tally.take(safe);
    if (this.#reports.admits(safe)) this.#report(safe);
    if (safe.type === 'usage') this.#pay(safe.usage);
  }

  /** What came of it; `summary` in place of the last thing that was said. */
  result(summary?: string): CodeChangeResult {
    const { summary: said = '', ...result } = this.tally.result();
    const text = this.safe((summary ?? said).trim());
    return { ...result, ...(text === '' ? {} : { summary: text }) };
  }

  /** A text of the program as it may be told. */
  safe(text: string): string {
    return told(hideSecrets(this.#withoutOwn(text)));
  }

  #report(event: CodingEvent): void {
    const { ctx } = this.#deps;
    ctx.report(event);
    if (event.type !== 'tool.started') return;
    const { toolCalls } = this.tally.result();
    ctx.progress(toolCalls / (toolCalls + HALFWAY), event.title);
  }

  /** Spends what it has used since the last time. */
  #pay(usage: CodingUsage): void {
    const { limits, name, stop } = this.#deps;
    const used = {
      tokens: Math.min(tokensOf(usage), MAX_TOKENS),
      costUsd: Math.min(usage.costUsd ?? 0, MAX_COST_USD),
    };
    const cost = {
      tokens: Math.max(0, used.tokens - this.#spent.tokens),
      costUsd: Math.max(0, used.costUsd - this.#spent.costUsd),
    };
    this.#spent = {
      tokens: this.#spent.tokens + cost.tokens,
      costUsd: this.#spent.costUsd + cost.costUsd,
    };
    this.#spend(cost);
    if (limits.maxTokens !== undefined && used.tokens > limits.maxTokens)
      stop(overLimit(name, `${used.tokens} tokens`, limits.maxTokens));
    if (limits.maxCostUsd !== undefined && used.costUsd > limits.maxCostUsd)
      stop(overLimit(name, `${used.costUsd} USD`, limits.maxCostUsd));
  }

  #spend(cost: { readonly tokens: number; readonly costUsd: number }): void {
    const { ctx, stop } = this.#deps;
    try {
      ctx.spend(cost);
    } catch (error) {
      if (!isOrreryError(error) || error.code !== 'BUDGET_EXCEEDED') throw error;
      stop(error);
      const { tokens = cost.tokens, costUsd = cost.costUsd } = ctx.budget;
      // It is used, whether there was as much or not.
      ctx.spend({ tokens: Math.min(cost.tokens, tokens), costUsd: Math.min(cost.costUsd, costUsd) });
    }
  }

  /** A value without the secrets that the program was given, however deep. */
  #withoutOwn<Value>(value: Value): Value {
    const { secrets } = this.#deps;
    if (secrets.length === 0) return value;
    if (typeof value === 'string')
      return secrets.reduce<string>((text, secret) => text.replaceAll(secret, HIDDEN), value) as Value;
    if (Array.isArray(value)) return value.map((each) => this.#withoutOwn(each)) as Value;
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([field, each]) => [field, this.#withoutOwn(each)]),
    ) as Value;
  }
}

const overLimit = (name: string, used: string, limit: number): OrreryError =>
  new OrreryError('BUDGET_EXCEEDED', `${name} has used ${used}, of ${limit} that the attempt may use`, {
    details: { used, limit },
  });
