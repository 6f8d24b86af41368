import { realpathSync } from 'node:fs';
import type { ClientConnection } from '@agentclientprotocol/sdk';
import { GuardedProcess, type ProcessEnd } from '../../../runtime/os/guarded-process.ts';
import { OrreryError, reasonOf, refused } from '../../../runtime/protocol/errors.ts';
import { AttemptBounds } from '../attempt-bounds.ts';
import { failureOf } from '../attempt-failure.ts';
import { AttemptRecord } from '../attempt-record.ts';
import type { CodingOrder } from '../backends/coding-backend.ts';
import type { AttemptDeps, AttemptRequest } from '../attempt-request.ts';
import type { CodeChangeResult } from '../code-change.ts';
import { narrowOrder } from '../narrow-order.ts';
import { programEnv, secretsIn } from '../program-env.ts';
import { eachChunk, tailOf } from '../program-output.ts';
import { unreadable } from '../streams/stream-reader.ts';
import type { AcpSettings } from './acp-agent-options.ts';
import { AcpClient } from './acp-client.ts';
import { AcpPipe } from './acp-pipe.ts';
import { AcpTurn } from './acp-turn.ts';
import { AcpUpdates } from './acp-updates.ts';

/** One attempt of a program at a task. It resolves or rejects when the program and whatever it started are gone. */
export class AcpAttempt {
  readonly #settings: AcpSettings;
  readonly #request: AttemptRequest;
  readonly #deps: AttemptDeps;
  readonly #order: CodingOrder;
  readonly #env: Readonly<Record<string, string>>;
  readonly #record: AttemptRecord;
  readonly #updates = new AcpUpdates();
  #log = '';
  /** Why it was stopped. */
  #stopped: { readonly error: unknown } | undefined;
  #onStop: () => void = () => undefined;
  readonly #whenStopped = new Promise<void>((resolve) => {
    this.#onStop = resolve;
  });

  /** Throws REFUSED where a limit could not be kept. */
  constructor(request: AttemptRequest, settings: AcpSettings, deps: AttemptDeps) {
    this.#request = request;
    this.#settings = settings;
    this.#deps = deps;
    const { name, tells, env } = settings;
    this.#order = narrowOrder(request, settings, deps.ctx.budget, { id: 'acp', name, tells });
    this.#env = { ...programEnv(deps.env, env), PWD: request.root };
    this.#record = new AttemptRecord({
      ctx: deps.ctx,
      name,
      limits: this.#order.limits,
      secrets: secretsIn(this.#env),
      stop: (error) => this.#stop(error),
    });
  }

  async run(signal: AbortSignal): Promise<CodeChangeResult> {
    signal.throwIfAborted();
    const { client, RequestError } = await import('@agentclientprotocol/sdk');
    const answers = new AcpClient({
      root: realRoot(this.#request.root),
      permission: this.#order.permission,
      updates: this.#updates,
      record: this.#record,
      isStopped: () => this.#stopped !== undefined,
      requestError: (code, message) => new RequestError(code, message),
    });
    signal.throwIfAborted();
    const child = this.#start(this.#deps.ctx.newId());
    const bounds = this.#boundsOf(child, signal);
    const pipe = this.#pipeOf(child, bounds);
    const read = Promise.all([pipe.read(), this.#readLog(child, bounds)]);
    const connection = answers.answering(client({ name: 'orrery' })).connect(pipe);
    try {
      const refusal = await this.#takeTurn(connection, child);
      await read;
      return this.#outcome(await child.ended, refusal);
    } finally {
      connection.close();
      bounds.release();
    }
  }

  /** Has the turn, and ends the program. Returns what the turn was refused for, if it was. */
  async #takeTurn({ agent }: ClientConnection, child: GuardedProcess): Promise<unknown> {
    const turn = new AcpTurn({
      agent,
      request: this.#request,
      order: this.#order,
      updates: this.#updates,
      record: this.#record,
      now: () => this.#deps.ctx.now(),
    });
    const over = turn.take().catch((error: unknown) => ({ error }));
    const ended = await Promise.race([over, this.#whenStopped]);
    const { graceMs } = this.#settings;
    if (this.#stopped !== undefined && turn.cancel())
      await Promise.race([over, child.ended, this.#after(graceMs)]);
    await child.stop(graceMs);
    return ended?.error;
  }

  #outcome(end: ProcessEnd, refusal: unknown): CodeChangeResult {
    if (this.#stopped !== undefined) throw this.#stopped.error;
    const { tally } = this.#record;
    if (refusal !== undefined && end.failure === undefined && isRefusal(refusal)) throw refusal;
    this.#record.takeAll(this.#updates.end());
    const claim = tally.end;
    if (claim === undefined && end.failure === undefined)
      this.#record.take({
        type: 'ended',
        isError: true,
        reason: `its turn was not over: ${reasonOf(refusal)}`,
      });
    else if (claim?.isError === false) return this.#record.result();
    const { name, command } = this.#settings;
    const said = this.#record.safe(this.#log.trim());
    const [program] = command;
    if (claim === undefined || tally.rateLimit !== undefined)
      throw failureOf({ name, program, end, tally, said, nowMs: this.#deps.ctx.now() });
    throw new OrreryError('HANDLER_FAILED', `${name} has not ended its turn well: ${claim.reason}`, {
      details: { program, reason: claim.reason, said, ...tally.result() },
    });
  }

  #start(mark: string): GuardedProcess {
    const [command, ...args] = this.#settings.command;
    const { root } = this.#request;
    return new GuardedProcess({ command, args, cwd: root, env: this.#env, mark }, this.#deps.clock);
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

  #pipeOf({ input, output }: GuardedProcess, bounds: AttemptBounds): AcpPipe {
    const { name } = this.#settings;
    return new AcpPipe({
      input,
      output,
      heard: () => bounds.heard(),
      onUpdate: (params) => this.#guarded(() => this.#record.takeAll(this.#updates.read(params))),
      onUnreadable: (line) => this.#guarded(() => this.#record.take(unreadable(line))),
      onTooLong: (maxBytes) =>
        this.#stop(
          new OrreryError('HANDLER_FAILED', `${name} has sent a message of more than ${maxBytes} bytes`, {
            details: { program: this.#settings.command[0], maxBytes, ...this.#record.tally.result() },
          }),
        ),
    });
  }

  #readLog({ log }: GuardedProcess, bounds: AttemptBounds): Promise<void> {
    return eachChunk(log, (chunk) => {
      bounds.heard();
      this.#log = tailOf(this.#log, chunk);
    });
  }

  /** What is said once it is stopped is read, so that it can end, and not taken. */
  #guarded(work: () => void): void {
    if (this.#stopped !== undefined) return;
    try {
      work();
    } catch (error) {
      this.#stop(error);
    }
  }

  /** Ends it; the first reason counts. */
  #stop(error: unknown): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = { error };
    this.#onStop();
  }

  #after(ms: number): Promise<void> {
    return new Promise((resolve) => this.#deps.clock.setTimer(ms, resolve));
  }
}

function realRoot(root: string): string {
  try {
    return realpathSync(root);
  } catch (error) {
    throw refused(`The worktree ${root} cannot be worked in: ${reasonOf(error)}`, { root });
  }
}

const isRefusal = (error: unknown): boolean => (error as { code?: unknown }).code === 'REFUSED';
