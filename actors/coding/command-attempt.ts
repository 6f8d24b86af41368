import { GuardedProcess } from '../../runtime/os/guarded-process.ts';
import { deadlineExceeded, isOrreryError, OrreryError } from '../../runtime/protocol/errors.ts';
import { HIDDEN, hideSecrets, hideSecretsIn } from '../../runtime/protocol/hide-secrets.ts';
import { LineReader } from '../../runtime/protocol/line-reader.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import type { HandlingContext } from '../../runtime/public.ts';
import { failureOf } from './attempt-failure.ts';
import type { CodingOrder } from './backends/coding-backend.ts';
import type { CodeChangeRequest, CodeChangeResult } from './code-change.ts';
import type { CodingEvent, CodingUsage } from './coding-event.ts';
import { codingPrompt } from './coding-prompt.ts';
import { CodingTally, tokensOf } from './coding-tally.ts';
import { told } from './coding-text.ts';
import type { CommandSettings } from './command-agent-options.ts';
import { Inactivity } from './inactivity.ts';
import { narrowOrder } from './narrow-order.ts';
import { programEnv, secretsIn } from './program-env.ts';
import { ReportLimit } from './report-limit.ts';
import { unreadable } from './streams/stream-reader.ts';

/** The longest line that is read, bytes. */
const MAX_LINE_BYTES = 1_000_000;
/** How much of the last of its log, and of the output of a plain program, is kept, characters. */
const MAX_TAIL = 2_000;
/** Tools after which half of the work is taken to be done. Nobody knows how many there will be. */
const HALFWAY = 20;
/** The most that is spent at once, as budgets have it. */
const MAX_TOKENS = 1e14;
const MAX_COST_USD = 1e8;

export interface AttemptDeps {
  readonly ctx: HandlingContext<never>;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** One attempt of a program at a task. It resolves or rejects when the program and whatever it started are gone. */
export class CommandAttempt {
  readonly #settings: CommandSettings;
  readonly #request: CodeChangeRequest;
  readonly #deps: AttemptDeps;
  readonly #order: CodingOrder;
  readonly #tally = new CodingTally();
  readonly #reports = new ReportLimit();
  #secrets: readonly string[] = [];
  #process: GuardedProcess | undefined;
  #spent = { tokens: 0, costUsd: 0 };
  #output = '';
  #log = '';
  /** Why it was stopped. */
  #stopped: { readonly error: unknown } | undefined;

  /** Throws REFUSED where a limit could not be kept. */
  constructor(request: CodeChangeRequest, settings: CommandSettings, deps: AttemptDeps) {
    this.#request = request;
    this.#settings = settings;
    this.#deps = deps;
    this.#order = narrowOrder(request, settings, deps.ctx.budget, settings.backend);
  }

  async run(signal: AbortSignal): Promise<CodeChangeResult> {
    signal.throwIfAborted();
    const { ctx, clock } = this.#deps;
    const mark = ctx.newId();
    const child = this.#start(mark);
    const inactivity = this.#watchInactivity(child, mark);
    const { timeoutMs } = this.#order.limits;
    const cancelTimeout =
      timeoutMs === undefined
        ? () => undefined
        : clock.setTimer(timeoutMs, () =>
            this.#stop(deadlineExceeded(`The attempt of ${this.#name}`, timeoutMs)),
          );
    const abort = (): void => this.#stop(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      child.input.end(codingPrompt({ ...this.#request, permission: this.#order.permission }));
      await Promise.all([this.#readOutput(child, inactivity), this.#readLog(child, inactivity)]);
      const end = await child.ended;
      if (this.#stopped !== undefined) throw this.#stopped.error;
      const { program } = this.#settings;
      const said = this.#safe(this.#log.trim());
      const failure = failureOf({
        name: this.#name,
        program,
        end,
        tally: this.#tally,
        said,
        nowMs: ctx.now(),
      });
      if (failure !== undefined) throw failure;
      return this.#result();
    } finally {
      inactivity.stop();
      cancelTimeout();
      signal.removeEventListener('abort', abort);
    }
  }

  get #name(): string {
    return this.#settings.backend.name;
  }

  #start(mark: string): GuardedProcess {
    const { backend, program, args, env: names } = this.#settings;
    const { root } = this.#request;
    const env = {
      ...programEnv(this.#deps.env, [...backend.env, ...names]),
      ...backend.envFor?.(this.#order),
      PWD: root,
    };
    this.#secrets = secretsIn(env);
    const order = {
      command: program,
      args: [...backend.argsFor(this.#order), ...args],
      cwd: root,
      env,
      mark,
    };
    this.#process = new GuardedProcess(order, this.#deps.clock);
    return this.#process;
  }

  #watchInactivity({ pid }: GuardedProcess, mark: string): Inactivity {
    const { clock } = this.#deps;
    const { inactivityMs } = this.#settings;
    const onInactive = (): void =>
      this.#stop(
        new OrreryError(
          'DEADLINE_EXCEEDED',
          `${this.#name} has printed nothing and used no processor for ${inactivityMs} ms`,
          { details: { what: this.#name, inactivityMs, ...this.#tally.result() } },
        ),
      );
    return new Inactivity({ clock, inactivityMs, pid, mark, onInactive });
  }

  /** Ends it; the first reason counts. */
  #stop(error: unknown): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = { error };
    // What comes of that is awaited by whoever reads its output.
    void this.#process?.stop(this.#settings.graceMs);
  }

  async #readOutput({ output }: GuardedProcess, inactivity: Inactivity): Promise<void> {
    const reader = this.#settings.backend.reader(() => this.#deps.ctx.now());
    const lines = new LineReader({
      maxBytes: MAX_LINE_BYTES,
      onLine: (line) => this.#takeAll(reader.read(line)),
      onTooLong: () => this.#takeAll([unreadable(`a line of more than ${MAX_LINE_BYTES} bytes`)]),
      onSkipped: () => undefined,
    });
    await eachChunk(output, (chunk) => {
      inactivity.heard();
      this.#guarded(() => {
        if (this.#settings.isPlain) this.#output = tailOf(this.#output, chunk);
        else lines.push(chunk);
      });
    });
    this.#guarded(() => {
      lines.end();
      this.#takeAll(reader.end());
    });
  }

  #readLog({ log }: GuardedProcess, inactivity: Inactivity): Promise<void> {
    return eachChunk(log, (chunk) => {
      inactivity.heard();
      this.#log = tailOf(this.#log, chunk);
    });
  }

  /** What it throws ends the program; its output is read all the same, so that it can end. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#stop(error);
    }
  }

  #takeAll(events: readonly CodingEvent[]): void {
    for (const event of events) this.#take(event);
  }

  #take(event: CodingEvent): void {
    this.#tally.take(event);
    if (this.#reports.admits(event)) this.#report(event);
    if (event.type === 'usage') this.#pay(event.usage);
  }

  #report(event: CodingEvent): void {
    const { ctx } = this.#deps;
    const safe = hideSecretsIn(this.#withoutOwn(event)) as CodingEvent;
    ctx.report(safe);
    if (safe.type !== 'tool.started') return;
    const { toolCalls } = this.#tally.result();
    ctx.progress(toolCalls / (toolCalls + HALFWAY), safe.title);
  }

  /** Spends what it has used since the last time. */
  #pay(usage: CodingUsage): void {
    const { limits } = this.#order;
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
      this.#stop(overLimit(this.#name, `${used.tokens} tokens`, limits.maxTokens));
    if (limits.maxCostUsd !== undefined && used.costUsd > limits.maxCostUsd)
      this.#stop(overLimit(this.#name, `${used.costUsd} USD`, limits.maxCostUsd));
  }

  #spend(cost: { readonly tokens: number; readonly costUsd: number }): void {
    const { ctx } = this.#deps;
    try {
      ctx.spend(cost);
    } catch (error) {
      if (!isOrreryError(error) || error.code !== 'BUDGET_EXCEEDED') throw error;
      this.#stop(error);
      const { tokens = cost.tokens, costUsd = cost.costUsd } = ctx.budget;
      // It is used, whether there was as much or not.
      ctx.spend({ tokens: Math.min(cost.tokens, tokens), costUsd: Math.min(cost.costUsd, costUsd) });
    }
  }

  #result(): CodeChangeResult {
    const { summary: said, ...result } = this.#tally.result();
    const summary = this.#safe(this.#settings.isPlain ? this.#output.trim() : (said ?? '').trim());
    return { ...result, ...(summary === '' ? {} : { summary }) };
  }

  #safe(text: string): string {
    return told(hideSecrets(this.#withoutOwn(text)));
  }

  /** A value without the secrets that the program was given, however deep. */
  #withoutOwn<Value>(value: Value): Value {
    if (this.#secrets.length === 0) return value;
    if (typeof value === 'string')
      return this.#secrets.reduce<string>((text, secret) => text.replaceAll(secret, HIDDEN), value) as Value;
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

const tailOf = (tail: string, chunk: Buffer): string => (tail + chunk.toString('utf8')).slice(-MAX_TAIL);

/** Resolves when there are no more, also when they were cut off. */
async function eachChunk(stream: AsyncIterable<Buffer>, take: (chunk: Buffer) => void): Promise<void> {
  try {
    for await (const chunk of stream) take(chunk);
  } catch {
    // It was closed: something outside its family held it.
  }
}
