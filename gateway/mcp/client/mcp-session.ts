import {
  type Client,
  type RequestOptions,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { remoteFailed, remoteUnreachable } from '../../../runtime/protocol/edge-errors.ts';
import { deadlineExceeded, reasonOf } from '../../../runtime/protocol/errors.ts';
import type {
  McpCallOptions,
  McpCompleting,
  McpConnection,
  McpIdentity,
  McpOffer,
  McpTool,
} from '../../../runtime/protocol/mcp-link.ts';
import type { ResourceContent, ToolContent } from '../../../runtime/protocol/tool.ts';
import type { Seams } from '../../../runtime/protocol/seams.ts';
import type { Span } from '../../../runtime/protocol/tracer.ts';
import { untilAborted } from '../../../runtime/protocol/promises.ts';
import { type Judge, judgeBy } from './foreign-schema.ts';
import { readOffer } from './read-offer.ts';
import { ConnectionLost, failureOf } from './mcp-failure.ts';
import type { McpTargetSettings } from './mcp-target.ts';
import { readContents, readRendering, readToolResult } from './read-content.ts';
import type { Silence } from './silence.ts';
import { callAsTask } from './task-call.ts';

/** A connected client of the SDK, with what depends on its transport. */
export interface Connected {
  readonly client: Client;
  /** Whether it can be replaced when it closes, because the server lives on. */
  readonly isRenewable: boolean;
  /** Why it was closed. */
  readonly reason: () => string;
  /** Subscribes to these resources, and to no others. */
  readonly watch: (uris: readonly string[]) => void;
  /** Asks the user for authorization; undefined if nobody can be asked. */
  readonly authorize: ((signal: AbortSignal | undefined) => Promise<void>) | undefined;
  /** Closes it; resolves when its transport is closed. `isForgotten`: the server has dropped the session. */
  readonly close: (isForgotten?: boolean) => Promise<void>;
}

export interface McpSessionDeps {
  readonly target: string;
  readonly settings: McpTargetSettings;
  readonly silence: Silence;
  readonly seams: Pick<Seams, 'clock' | 'tracer'>;
  /** Connects again, when the server has dropped the session or the connection has closed. */
  readonly connectAgain: () => Promise<Connected>;
  /** Called when there is a new connection. */
  readonly onRenewed: () => void;
}

/** A session with an MCP server. It outlives a connection over HTTP: it connects again when one is lost. */
export class McpSession implements McpConnection {
  readonly lost: Promise<string>;
  readonly #deps: McpSessionDeps;
  readonly #lose: (reason: string) => void;
  readonly #inHand = new Set<AbortController>();
  readonly #judges = new Map<McpTool, Judge>();
  #connected: Connected;
  #renewing: Promise<void> | undefined;
  #isOver = false;
  /** The connection is closed, and there is no new one yet. */
  #isCut = false;
  #watched: readonly string[] = [];

  constructor(connected: Connected, deps: McpSessionDeps) {
    this.#deps = deps;
    const { promise, resolve } = Promise.withResolvers<string>();
    this.lost = promise;
    this.#lose = resolve;
    this.#connected = connected;
    this.#watch(connected);
  }

  get identity(): McpIdentity {
    const { client } = this.#connected;
    const { name = 'unnamed', version = '0.0.0' } = client.getServerVersion() ?? {};
    return {
      name: name === '' ? 'unnamed' : name,
      version: version === '' ? '0.0.0' : version,
      protocolVersion: client.getNegotiatedProtocolVersion() ?? 'unknown',
    };
  }

  offer(options: McpCallOptions = {}): Promise<McpOffer> {
    const { maxOffered: max } = this.#deps.settings;
    const list = (client: Client, requestOptions: RequestOptions): Promise<McpOffer> =>
      readOffer(client, { max, options: requestOptions });
    return this.#request(options, list, { hasParts: true });
  }

  call(tool: McpTool, args: unknown, options: McpCallOptions = {}): Promise<ToolContent> {
    const { seams, target } = this.#deps;
    const { clock } = seams;
    const span = this.#spanOf(tool);
    const params = {
      name: tool.name,
      arguments: (args ?? {}) as Record<string, unknown>,
      ...(span?.context === undefined ? {} : { _meta: { ...span.context } }),
    };
    const answered = this.#request(options, async (client, requestOptions) => {
      const { structuredContent, ...answer } = this.#read(
        readToolResult,
        tool.isTask === true
          ? await callAsTask({ client, clock, target }, params, requestOptions)
          : await client.callTool(params, requestOptions),
      );
      const fault = answer.isError === true ? undefined : this.#judge(tool)(structuredContent);
      if (fault !== undefined)
        throw remoteFailed(target, `what "${tool.name}" answers is not what it says: ${fault}`);
      return answer;
    });
    return span === undefined ? answered : endsWith(span, answered);
  }

  /** The span of a call, which the server is told of, if somebody traces. */
  #spanOf({ name }: McpTool): Span | undefined {
    const { target, seams } = this.#deps;
    return seams.tracer?.start({
      name: `tools/call ${name}`,
      kind: 'client',
      attributes: {
        'mcp.method.name': 'tools/call',
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'orrery.mcp.server': target,
      },
    });
  }

  read(uri: string, options: McpCallOptions = {}): Promise<readonly ResourceContent[]> {
    return this.#request(options, async (client, requestOptions) =>
      this.#read(
        readContents,
        await client.readResource({ uri }, { ...requestOptions, cacheMode: 'bypass' }),
      ),
    );
  }

  render(
    prompt: string,
    args: Readonly<Record<string, string>>,
    options: McpCallOptions = {},
  ): ReturnType<McpConnection['render']> {
    return this.#request(options, async (client, requestOptions) =>
      this.#read(
        readRendering,
        await client.getPrompt({ name: prompt, arguments: { ...args } }, requestOptions),
      ),
    );
  }

  complete(
    { of, argument, others }: McpCompleting,
    options: McpCallOptions = {},
  ): Promise<readonly string[]> {
    return this.#request(options, async (client, requestOptions) => {
      if (client.getServerCapabilities()?.completions === undefined) return [];
      const ref =
        'prompt' in of
          ? ({ type: 'ref/prompt', name: of.prompt } as const)
          : ({ type: 'ref/resource', uri: of.uriTemplate } as const);
      const context = Object.keys(others).length === 0 ? {} : { context: { arguments: { ...others } } };
      const { completion } = await client.complete({ ref, argument, ...context }, requestOptions);
      return completion.values.slice(0, 100);
    });
  }

  watch(uris: readonly string[]): void {
    this.#watched = uris;
    this.#connected.watch(uris);
  }

  async answers(withinMs: number): Promise<boolean> {
    const { client } = this.#connected;
    const options = { timeout: withinMs };
    try {
      await (client.getProtocolEra() === 'modern' ? client.discover(options) : client.ping(options));
      return true;
    } catch (error) {
      // An error answer is a sign of life too.
      const isSilent =
        error instanceof SdkError &&
        (error.code === SdkErrorCode.RequestTimeout || error.code === SdkErrorCode.ConnectionClosed);
      return (!isSilent || this.#isCut) && !this.#isOver;
    }
  }

  async close(): Promise<void> {
    this.#end('it was closed');
    await this.#connected.close();
  }

  /** Fails all requests in hand: a message was too large, and could be the answer to any of them. */
  tooLarge(): void {
    const { target, settings } = this.#deps;
    const error = remoteFailed(target, `it says more than ${settings.maxMessageBytes} bytes at once`, {
      maxMessageBytes: settings.maxMessageBytes,
    });
    for (const cut of this.#inHand) cut.abort(error);
  }

  async #request<Result>(
    { signal, timeoutMs, onProgress }: McpCallOptions,
    run: (client: Client, options: RequestOptions & { signal: AbortSignal }) => Promise<Result>,
    { hasParts = false }: { readonly hasParts?: boolean } = {},
  ): Promise<Result> {
    const { target, settings, silence } = this.#deps;
    const { silenceMs, longestCallMs } = settings;
    const cut = new AbortController();
    this.#inHand.add(cut);
    const most = Math.min(longestCallMs, timeoutMs ?? longestCallMs);
    const ended = signal === undefined ? cut.signal : AbortSignal.any([signal, cut.signal]);
    const late = (): void => cut.abort(deadlineExceeded(`What ${target} was asked for`, silenceMs));
    // Each page of a list has its own timeout.
    const listened = hasParts ? undefined : silence.listen(late);
    const timeout = hasParts ? Math.min(silenceMs, most) : most;
    const options: RequestOptions & { signal: AbortSignal } = {
      signal: ended,
      timeout,
      maxTotalTimeout: most,
      // The SDK asks for progress only if this is set, and progress extends the timeout.
      onprogress: ({ progress, total, message }) => {
        listened?.heard();
        onProgress?.(fractionOf(progress, total), message?.slice(0, 1_000));
      },
    };
    try {
      return await this.#onLiveSession((client) => run(client, options), ended);
    } catch (error) {
      signal?.throwIfAborted();
      cut.signal.throwIfAborted();
      if (this.#isOver) throw new ConnectionLost(this.#connected.reason());
      throw failureOf(error, target, timeout);
    } finally {
      listened?.stop();
      this.#inHand.delete(cut);
    }
  }

  /**
   * Runs a request. If the server has dropped the session or wants more authorization, it is run once more after that is
   * fixed; the time for that does not count as silence.
   */
  async #onLiveSession<Result>(
    run: (client: Client) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const { silence } = this.#deps;
    const renew = (gone: Connected): Promise<void> =>
      silence.whileAnswering(() => untilAborted(this.#renew(gone), signal));
    if (this.#isCut) await renew(this.#connected);
    const connected = this.#connected;
    try {
      return await run(connected.client);
    } catch (error) {
      if (this.#isOver || this.#isCut) throw error;
      if (error instanceof UnauthorizedError && connected.authorize !== undefined)
        await silence.whileAnswering(() => connected.authorize?.(signal));
      else if (isSessionGone(error) && connected.client.getProtocolEra() === 'legacy') await renew(connected);
      else throw error;
      return run(this.#connected.client);
    }
  }

  #renew(gone: Connected): Promise<void> {
    if (this.#connected !== gone) return Promise.resolve();
    this.#renewing ??= this.#deps
      .connectAgain()
      .then(async (next) => {
        this.#connected = next;
        this.#isCut = false;
        if (this.#isOver) await next.close();
        else {
          this.#watch(next);
          next.watch(this.#watched);
          this.#deps.onRenewed();
        }
        await gone.close(true).catch(() => undefined);
      })
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  #watch(connected: Connected): void {
    connected.client.onclose = () => {
      if (this.#connected !== connected || this.#isOver) return;
      if (connected.isRenewable) this.#cutOff(connected.reason());
      else this.#end(connected.reason());
    };
  }

  /** Fails all requests in hand, which the server may have received. The next request connects again. */
  #cutOff(reason: string): void {
    this.#isCut = true;
    const error = remoteUnreachable(this.#deps.target, reason, { mayHaveArrived: true });
    for (const cut of this.#inHand) cut.abort(error);
  }

  #end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const cut of this.#inHand) cut.abort(new ConnectionLost(reason));
    this.#lose(reason);
  }

  #judge(tool: McpTool): Judge {
    const judge = this.#judges.get(tool) ?? judgeBy(tool.outputSchema);
    this.#judges.set(tool, judge);
    return judge;
  }

  #read<Result>(read: (result: unknown) => Result, result: unknown): Result {
    try {
      return read(result);
    } catch (error) {
      throw remoteFailed(this.#deps.target, `its answer is no such answer: ${reasonOf(error).slice(0, 500)}`);
    }
  }
}

/** Ends the span with the call: with an error too when the tool says that it failed. */
async function endsWith(span: Span, answered: Promise<ToolContent>): Promise<ToolContent> {
  try {
    const answer = await answered;
    span.end(answer.isError === true ? { code: 'tool_error' } : undefined);
    return answer;
  } catch (error) {
    span.end(error instanceof Error ? error : { code: 'REMOTE_FAILED' });
    throw error;
  }
}

const isSessionGone = (error: unknown): boolean => error instanceof SdkHttpError && error.status === 404;

function fractionOf(progress: number, total: number | undefined): number | undefined {
  if (total === undefined || !(total > 0)) return undefined;
  return Math.min(1, Math.max(0, progress / total));
}
