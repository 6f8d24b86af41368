import { z } from 'zod';
import { isOrreryError, reasonOf } from '../../../runtime/protocol/errors.ts';
import type { FirewallGuard, FirewallHooks } from '../../../runtime/protocol/firewall.ts';
import { JsonValue } from '../../../runtime/protocol/json-value.ts';
import { Milliseconds } from '../../../runtime/protocol/milliseconds.ts';
import { parseOptions, requireFunction, requireMethod } from '../../../runtime/protocol/parse-options.ts';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import { type NoteFailure, toldFailure } from '../../../runtime/protocol/told-failure.ts';
import { type FirewallEvent, firewallGuard } from '../../admit/firewall-guard.ts';
import { redactPaths } from '../firewall/redact-paths.ts';
import { principalOfSession, type Session, type SessionStore } from '../session/session-store.ts';
import { type ByteStream, inTime, type LangoPeer } from '../wire/byte-stream.ts';
import {
  decodeRequest,
  encodeResponse,
  type JsonObject,
  type LangoRequest,
  type LangoResponse,
} from '../wire/messages.ts';
import { type Served, StreamService } from './stream-service.ts';

/** Who calls a tool, and what says that nobody waits for it any more. */
export interface ToolCall {
  readonly principal: Principal;
  readonly signal: AbortSignal;
}

/** Runs a tool (seed 0). What is no object is sent as `{result: …}`. What it throws stays at home, but for refusals. */
export type ToolExecutor = (
  toolName: string,
  params: JsonObject,
  call: ToolCall,
) => JsonValue | Promise<JsonValue>;

const Options = z.strictObject({
  maxBytes: z.int().min(1_024).default(1_048_576),
  readMs: Milliseconds.default(10_000),
  toolTimeoutMs: Milliseconds.default(30_000),
  sendMs: Milliseconds.default(10_000),
  maxStreamsPerPeer: z.int().positive().default(16),
  maxStreams: z.int().positive().default(1_000),
});

/**
 * - `sessions`          whose tokens are let in.
 * - `firewall`          a `Firewall`, or hooks of your own. What the hooks leave out is not done: no `filterQuery` lets all in.
 * - `executor`          runs tools.
 * - `cardProvider`      gives our card. @default there is none
 * - `maxBytes`          of a request, and of a response. @default 1 MiB
 * - `readMs`            for a whole request to come in. @default 10 seconds
 * - `toolTimeoutMs`     for a tool, with the hooks around it. @default 30 seconds
 * - `sendMs`            for the peer to take the response and end the stream. @default 10 seconds
 * - `maxStreamsPerPeer` at once; any more are reset. @default 16
 * - `maxStreams`        of all peers at once. @default 1,000
 */
export type LangoHandlerOptions = z.input<typeof Options> & {
  readonly sessions: SessionStore;
  readonly firewall: FirewallHooks;
  readonly executor: ToolExecutor;
  readonly cardProvider?: () => JsonObject | undefined;
};

/** `note` gets what was thrown, and returns the id that the peer is told of it; `tell` hears what the firewall does. */
export interface LangoHandlerDeps {
  readonly clock: Clock;
  readonly note: NoteFailure;
  readonly tell?: (event: FirewallEvent) => void;
}

type Outcome = Omit<LangoResponse, 'requestId' | 'timestampMs'>;
type Asked = Omit<LangoRequest, 'sessionToken'>;

const ERROR = (error: string): Outcome => ({ status: 'error', error });
const DENIED = (error: string): Outcome => ({ status: 'denied', error });
const MAX_ERROR = 1_000;
const MAX_TOOL_NAME = 512;

/** Answers Lango's requests (seed 0's `Handler`): token, type, firewall, tool, sanitiser, attestation, in this order. */
export class LangoHandler {
  readonly #options: z.output<typeof Options>;
  readonly #given: Pick<LangoHandlerOptions, 'sessions' | 'executor' | 'cardProvider'>;
  readonly #guard: FirewallGuard;
  readonly #deps: LangoHandlerDeps;
  readonly #streams: StreamService;

  /** Throws INVALID_OPTIONS. */
  constructor(
    { sessions, firewall, executor, cardProvider, ...options }: LangoHandlerOptions,
    deps: LangoHandlerDeps,
  ) {
    requireMethod('LangoHandler.sessions', sessions, 'findByToken', 'a SessionStore');
    requireFunction('LangoHandler.executor', executor);
    requireMethod('LangoHandler.clock', deps?.clock, 'setTimer', 'a clock, such as that of systemSeams()');
    this.#options = parseOptions(Options, options, 'LangoHandler');
    this.#given = { sessions, executor, ...(cardProvider && { cardProvider }) };
    this.#guard = firewallGuard(firewall, { clock: deps.clock, tell: deps.tell ?? (() => undefined) });
    this.#deps = deps;
    const { toolTimeoutMs, ...limits } = this.#options;
    this.#streams = new StreamService({ ...limits, answerMs: toolTimeoutMs + limits.readMs }, deps.clock);
  }

  /** How many streams are served now. */
  get openStreams(): number {
    return this.#streams.open;
  }

  /** Serves one stream of `LANGO_PROTOCOL`: one request, one response. Never rejects. */
  handleStream(stream: ByteStream, peer: LangoPeer): Promise<void> {
    return this.#streams.serve(stream, peer, (document, signal) => this.#document(document, peer, signal));
  }

  async #document(document: Served, peer: LangoPeer, signal: AbortSignal): Promise<Uint8Array> {
    const request = decoded(document);
    if (request === undefined) return this.#encoded('', ERROR('invalid request'));
    return this.#encoded(request.requestId, await this.#answered(request, peer, signal));
  }

  #encoded(requestId: string, outcome: Outcome): Uint8Array {
    const timestampMs = this.#deps.clock.now();
    const bytes = encodeResponse({ requestId, ...outcome, timestampMs });
    const { maxBytes } = this.#options;
    if (bytes.length <= maxBytes) return bytes;
    return encodeResponse({
      requestId,
      ...ERROR(`the response is larger than ${maxBytes} bytes`),
      timestampMs,
    });
  }

  async #answered(request: LangoRequest, peer: LangoPeer, signal: AbortSignal): Promise<Outcome> {
    try {
      const { sessionToken, ...asked } = request;
      const session = this.#given.sessions.findByToken(sessionToken, peer);
      if (session === undefined) return DENIED('invalid or expired session token');
      return await this.#dispatched(asked, session, signal);
    } catch (error) {
      return ERROR(this.#told(error));
    }
  }

  async #dispatched(asked: Asked, session: Session, signal: AbortSignal): Promise<Outcome> {
    switch (asked.type) {
      case 'tool_invoke':
        return this.#toolInvoke(asked, session, signal);
      case 'agent_card':
        return this.#card(session, asked.type, () => ERROR('agent card not available'));
      case 'capability_query':
        return this.#card(session, asked.type, () => ({ status: 'ok', result: { capabilities: [] } }));
      default:
        return ERROR(`unknown request type: ${asked.type}`);
    }
  }

  async #card({ peerDid }: Session, type: string, none: () => Outcome): Promise<Outcome> {
    const denial = await this.#denial(peerDid, type);
    if (denial !== undefined) return denial;
    const card = this.#given.cardProvider?.();
    return card === undefined ? none() : { status: 'ok', result: objectOf(JsonValue.parse(card)) };
  }

  async #toolInvoke({ payload = {} }: Asked, session: Session, signal: AbortSignal): Promise<Outcome> {
    const { toolName, params = null } = payload;
    if (typeof toolName !== 'string' || toolName === '') return ERROR('missing toolName in payload');
    if (toolName.length > MAX_TOOL_NAME) return ERROR('toolName in payload is too long');
    if (typeof params !== 'object' || Array.isArray(params)) return ERROR('params in payload is no object');
    const denial = await this.#denial(session.peerDid, toolName);
    if (denial !== undefined) return denial;
    return this.#result(await this.#executed(toolName, params ?? {}, { session, signal }));
  }

  async #executed(
    toolName: string,
    params: JsonObject,
    { session, signal }: { readonly session: Session; readonly signal: AbortSignal },
  ): Promise<JsonValue> {
    const { executor, sessions } = this.#given;
    const isSuccess = (is: boolean): void => sessions.noteOutcome(session.peerDid, is);
    try {
      const limit = { what: `The tool ${toolName}`, ms: this.#options.toolTimeoutMs, signal };
      const result = await inTime(this.#deps.clock, limit, async (ended) =>
        executor(toolName, params, { principal: principalOfSession(session), signal: ended }),
      );
      const copy = JsonValue.parse(result);
      isSuccess(true);
      return copy;
    } catch (error) {
      // A peer that no longer waits has not made it fail.
      if (!signal.aborted) isSuccess(false);
      throw error;
    }
  }

  async #result(given: JsonValue): Promise<Outcome> {
    const clean = await this.#guard.sanitizeResponse(objectOf(given));
    if (clean === undefined) return ERROR('the result may not go out');
    const result = objectOf(clean);
    const attestation = await this.#guard.attest(result);
    if (attestation === undefined) return { status: 'ok', result };
    return { status: 'ok', result, attestationProof: Buffer.from(attestation.proof, 'base64') };
  }

  /** What a peer is told if the firewall does not let it; the operator has heard it from the guard. */
  async #denial(peerDid: string, toolName: string): Promise<Outcome | undefined> {
    try {
      await this.#guard.filterQuery(peerDid, toolName);
      return undefined;
    } catch (error) {
      return DENIED(told(isOrreryError(error) ? error.message : reasonOf(error)));
    }
  }

  #told(error: unknown): string {
    const { message, id } = toldFailure(error, this.#deps.note);
    return told(id === undefined ? message : `${message} (${id})`);
  }
}

const told = (text: string): string => redactPaths(text).slice(0, MAX_ERROR);

function decoded(document: Served): LangoRequest | undefined {
  if ('fault' in document) return undefined;
  try {
    return decodeRequest(document.text);
  } catch {
    return undefined;
  }
}

/** What goes out as `result`, which is a map. */
const objectOf = (value: JsonValue): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { result: value };
