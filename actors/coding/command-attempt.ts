import { GuardedProcess } from '../../runtime/os/guarded-process.ts';
import { LineReader } from '../../runtime/protocol/line-reader.ts';
import { AttemptBounds } from './attempt-bounds.ts';
import { failureOf } from './attempt-failure.ts';
import { AttemptRecord } from './attempt-record.ts';
import type { CodingOrder } from './backends/coding-backend.ts';
import type { AttemptDeps, AttemptRequest } from './attempt-request.ts';
import type { CodeChangeResult } from './code-change.ts';
import type { CommandSettings } from './command-agent-options.ts';
import { narrowOrder } from './narrow-order.ts';
import { programEnv, secretsIn } from './program-env.ts';
import { eachChunk, tailOf } from './program-output.ts';
import { unreadable } from './streams/stream-reader.ts';

/** The longest line that is read, bytes. */
const MAX_LINE_BYTES = 1_000_000;

/** One attempt of a program at a task. It resolves or rejects when the program and whatever it started are gone. */
export class CommandAttempt {
  readonly #settings: CommandSettings;
  readonly #request: AttemptRequest;
  readonly #deps: AttemptDeps;
  readonly #order: CodingOrder;
  readonly #env: Readonly<Record<string, string>>;
  readonly #record: AttemptRecord;
  #process: GuardedProcess | undefined;
  #output = '';
  #log = '';
  /** Why it was stopped. */
  #stopped: { readonly error: unknown } | undefined;

  /** Throws REFUSED where a limit could not be kept. */
  constructor(request: AttemptRequest, settings: CommandSettings, deps: AttemptDeps) {
    this.#request = request;
    this.#settings = settings;
    this.#deps = deps;
    const { backend } = settings;
    this.#order = narrowOrder(request, settings, deps.ctx.budget, backend);
    this.#env = {
      ...programEnv(deps.env, [...backend.env, ...settings.env]),
      ...backend.envFor?.(this.#order),
      PWD: request.root,
    };
    this.#record = new AttemptRecord({
      ctx: deps.ctx,
      name: backend.name,
      limits: this.#order.limits,
      secrets: secretsIn(this.#env),
      stop: (error) => this.#stop(error),
    });
  }

  async run(signal: AbortSignal): Promise<CodeChangeResult> {
    signal.throwIfAborted();
    const { ctx } = this.#deps;
    const record = this.#record;
    const child = this.#start(ctx.newId());
    const bounds = this.#boundsOf(child, signal);
    try {
      child.input.end(this.#request.prompt(this.#order.permission));
      await Promise.all([this.#readOutput(child, bounds), this.#readLog(child, bounds)]);
      const end = await child.ended;
      if (this.#stopped !== undefined) throw this.#stopped.error;
      const { program } = this.#settings;
      const said = record.safe(this.#log.trim());
      const failure = failureOf({
        name: this.#name,
        program,
        end,
        tally: record.tally,
        said,
        nowMs: ctx.now(),
      });
      if (failure !== undefined) throw failure;
      return record.result(this.#settings.isPlain ? this.#output : undefined);
    } finally {
      bounds.release();
    }
  }

  #boundsOf(process: GuardedProcess, signal: AbortSignal): AttemptBounds {
    return new AttemptBounds({
      clock: this.#deps.clock,
      signal,
      process,
      record: this.#record,
      timeoutMs: this.#order.limits.timeoutMs,
      inactivityMs: this.#settings.inactivityMs,
    });
  }

  get #name(): string {
    return this.#settings.backend.name;
  }

  #start(mark: string): GuardedProcess {
    const { backend, program, args } = this.#settings;
    const { root } = this.#request;
    const order = {
      command: program,
      args: [...backend.argsFor(this.#order), ...args],
      cwd: root,
      env: this.#env,
      mark,
    };
    this.#process = new GuardedProcess(order, this.#deps.clock);
    return this.#process;
  }

  /** Ends it; the first reason counts. */
  #stop(error: unknown): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = { error };
    // What comes of that is awaited by whoever reads its output.
    void this.#process?.stop(this.#settings.graceMs);
  }

  async #readOutput({ output }: GuardedProcess, bounds: AttemptBounds): Promise<void> {
    const reader = this.#settings.backend.reader(() => this.#deps.ctx.now());
    const lines = new LineReader({
      maxBytes: MAX_LINE_BYTES,
      onLine: (line) => this.#record.takeAll(reader.read(line)),
      onTooLong: () => this.#record.takeAll([unreadable(`a line of more than ${MAX_LINE_BYTES} bytes`)]),
      onSkipped: () => undefined,
    });
    await eachChunk(output, (chunk) => {
      bounds.heard();
      this.#guarded(() => {
        if (this.#settings.isPlain) this.#output = tailOf(this.#output, chunk);
        else lines.push(chunk);
      });
    });
    this.#guarded(() => {
      lines.end();
      this.#record.takeAll(reader.end());
    });
  }

  #readLog({ log }: GuardedProcess, bounds: AttemptBounds): Promise<void> {
    return eachChunk(log, (chunk) => {
      bounds.heard();
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
}
