import { z } from 'zod';
import { isOrreryError, reasonOf } from '../../../runtime/protocol/errors.ts';
import type { FirewallGuard, FirewallHooks } from '../../../runtime/protocol/firewall.ts';
import { JsonValue } from '../../../runtime/protocol/json-value.ts';
import { Milliseconds } from '../../../runtime/protocol/milliseconds.ts';
import { parseOptions, requireFunction, requireMethod } from '../../../runtime/protocol/parse-options.ts';
import type { AdmissionRule } from '../../../runtime/protocol/admission.ts';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import { type NoteFailure, toldFailure } from '../../../runtime/protocol/told-failure.ts';
import { admit } from '../../admit/admit.ts';
import { type FirewallEvent, firewallGuard } from '../../admit/firewall-guard.ts';
import { PeerBuckets } from '../firewall/peer-buckets.ts';
import { redactPaths } from '../firewall/redact-paths.ts';
import { principalOfSession, type Session, type SessionStore } from '../session/session-store.ts';
import { type ByteStream, inTime, type LangoPeer } from '../wire/byte-stream.ts';
import {
  decodeRequest,
  encodeResponse,
  INVALID_TOKEN,
  type JsonObject,
  LANGO_PROTOCOL,
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

/** The limits of a handler, as its options have them. */
export const LangoLimits = z.strictObject({
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
 * - `cardProvider`      gives our card, as a caller is shown it. @default there is none
 * - `principalOf`       who stands behind a session; undefined: the session is good no more. @default as `principalOfSession` has it
 * - `rules`             of admission, asked for each request about whoever stands behind its session. @default none
 * - `maxBytes`          of a request, and of a response. @default 1 MiB
 * - `readMs`            for a whole request to come in. @default 10 seconds
 * - `toolTimeoutMs`     for a tool, with the hooks around it. @default 30 seconds
 * - `sendMs`            for the peer to take the response and end the stream. @default 10 seconds
 * - `maxStreamsPerPeer` at once; any more are reset. @default 16
 * - `maxStreams`        of all peers at once. @default 1,000
 */
export type LangoHandlerOptions = z.input<typeof LangoLimits> & {
  readonly sessions: SessionStore;
  readonly firewall: FirewallHooks;
  readonly executor: ToolExecutor;
  readonly cardProvider?: (principal: Principal) => JsonObject | undefined;
  readonly principalOf?: (session: Session) => Principal | undefined;
  readonly rules?: readonly AdmissionRule[];
};

/** `note` gets what was thrown, and returns the id that the peer is told of it; `tell` hears of whom is kept out, and what is kept in. */
export interface LangoHandlerDeps {
  readonly clock: Clock;
  readonly note: NoteFailure;
  readonly tell?: (event: FirewallEvent) => void;
}

type Outcome = Omit<LangoResponse, 'requestId' | 'timestampMs'>;
type Asked = Omit<LangoRequest, 'sessionToken'>;
type Given = Required<
  Pick<LangoHandlerOptions, 'sessions' | 'executor' | 'cardProvider' | 'principalOf' | 'rules'>
>;

/** Whose request it is. `signal` says that nobody waits for it any more. */
interface Caller {
  readonly session: Session;
  readonly principal: Principal;
  readonly signal: AbortSignal;
}

const ERROR = (error: string): Outcome => ({ status: 'error', error });
const DENIED = (error: string): Outcome => ({ status: 'denied', error });
const WITHHELD = 'the result may not go out';
const MAX_ERROR = 1_000;
const MAX_TOOL_NAME = 512;
/** Of requests without a session, told of each peer in a minute: more would push other events out. */
const TOLD_PER_MINUTE = 10;
const MAX_PEERS = 1_000;

/** Answers Lango's requests (seed 0's `Handler`): token, type, firewall, tool, sanitiser, attestation, in this order. */
export class LangoHandler {
  readonly #options: z.output<typeof LangoLimits>;
  readonly #given: Given;
  readonly #guard: FirewallGuard;
  readonly #deps: LangoHandlerDeps;
  readonly #streams: StreamService;
  readonly #told: PeerBuckets;
  readonly #stopWatching: () => void;

  /** Throws INVALID_OPTIONS. */
  constructor(
    {
      sessions,
      firewall,
      executor,
      cardProvider = () => undefined,
      principalOf = principalOfSession,
      rules = [],
      ...options
    }: LangoHandlerOptions,
    deps: LangoHandlerDeps,
  ) {
    requireMethod('LangoHandler.sessions', sessions, 'findByToken', 'a SessionStore');
    requireFunction('LangoHandler.executor', executor);
    requireMethod('LangoHandler.clock', deps?.clock, 'setTimer', 'a clock, such as that of systemSeams()');
    this.#options = parseOptions(LangoLimits, options, 'LangoHandler');
    requireFunction('LangoHandler.cardProvider', cardProvider);
    requireFunction('LangoHandler.principalOf', principalOf);
    this.#given = { sessions, executor, cardProvider, principalOf, rules };
    this.#guard = firewallGuard(firewall, { clock: deps.clock, tell: deps.tell ?? (() => undefined) });
    this.#deps = deps;
    const { toolTimeoutMs, ...limits } = this.#options;
    this.#streams = new StreamService({ ...limits, answerMs: toolTimeoutMs + limits.readMs }, deps.clock);
    this.#told = new PeerBuckets(deps.clock, MAX_PEERS);
    // Whose last request has failed once too often is still told so.
    this.#stopWatching = sessions.watch(({ peerDid, reason }) => {
      if (reason !== 'repeated_failures') this.#streams.cut(peerDid);
    });
  }

  /** How many streams are served now. */
  get openStreams(): number {
    return this.#streams.open;
  }

  /** Serves one stream of `LANGO_PROTOCOL`: one request, one response. Never rejects. */
  handleStream(stream: ByteStream, peer: LangoPeer): Promise<void> {
    return this.#streams.serve(stream, peer, (document, signal) => this.#document(document, peer, signal));
  }

  /** Resets all streams of a peer, and ends what is done for them. */
  cut(peerDid: string): void {
    this.#streams.cut(peerDid);
  }

  /** Takes no more streams; those that are open have `drainMs` to come to their end. */
  async close({ drainMs = 0 }: { readonly drainMs?: number } = {}): Promise<void> {
    await this.#streams.close({ drainMs });
    this.#stopWatching();
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
    const { sessionToken, ...asked } = request;
    try {
      const { sessions, principalOf } = this.#given;
      const session = sessions.findByToken(sessionToken, peer);
      const principal = session && principalOf(session);
      if (session === undefined || principal === undefined) return this.#unknown(asked.type, peer);
      const denial = await this.#denialByRules(principal, peer);
      return denial ?? (await this.#dispatched(asked, { session, principal, signal }));
    } catch (error) {
      return this.#failure(error);
    }
  }

  #unknown(type: string, { did }: LangoPeer): Outcome {
    if (this.#told.take(did, TOLD_PER_MINUTE))
      this.#deps.tell?.({ kind: 'unauthenticated', peer: did, reason: `${type}: ${INVALID_TOKEN}` });
    return DENIED(INVALID_TOKEN);
  }

  async #denialByRules(principal: Principal, peer: LangoPeer): Promise<Outcome | undefined> {
    const url = `lango://${peer.id}${LANGO_PROTOCOL}`;
    const request = { method: 'POST', url, headers: new Headers(), body: new Uint8Array() };
    try {
      await admit(request, { authenticators: [], rules: this.#given.rules }, principal);
      return undefined;
    } catch (error) {
      const isSaid = isOrreryError(error) && error.details['rule'] !== undefined;
      return isSaid ? DENIED(told(error.message)) : this.#failure(error);
    }
  }

  async #dispatched(asked: Asked, caller: Caller): Promise<Outcome> {
    const { principal } = caller;
    switch (asked.type) {
      case 'tool_invoke':
        return this.#toolInvoke(asked, caller);
      case 'agent_card':
        return this.#card(principal, asked.type, () => ERROR('agent card not available'));
      case 'capability_query':
        return this.#card(principal, asked.type, () => ({ status: 'ok', result: { capabilities: [] } }));
      default:
        return ERROR(`unknown request type: ${asked.type}`);
    }
  }

  async #card(principal: Principal, type: string, none: () => Outcome): Promise<Outcome> {
    const denial = await this.#denial(principal.id, type);
    if (denial !== undefined) return denial;
    const card = this.#given.cardProvider(principal);
    return card === undefined ? none() : { status: 'ok', result: objectOf(JsonValue.parse(card)) };
  }

  async #toolInvoke({ payload = {} }: Asked, caller: Caller): Promise<Outcome> {
    const { toolName, params = null } = payload;
    if (typeof toolName !== 'string' || toolName === '') return ERROR('missing toolName in payload');
    if (toolName.length > MAX_TOOL_NAME) return ERROR('toolName in payload is too long');
    if (typeof params !== 'object' || Array.isArray(params)) return ERROR('params in payload is no object');
    const denial = await this.#denial(caller.principal.id, toolName);
    if (denial !== undefined) return denial;
    return this.#result(await this.#executed(toolName, params ?? {}, caller));
  }

  async #executed(
    toolName: string,
    params: JsonObject,
    { session, principal, signal }: Caller,
  ): Promise<JsonValue> {
    const { executor, sessions } = this.#given;
    const isSuccess = (is: boolean): void => sessions.noteOutcome(session.peerDid, is);
    try {
      const limit = { what: `The tool ${toolName}`, ms: this.#options.toolTimeoutMs, signal };
      const result = await inTime(this.#deps.clock, limit, async (ended) =>
        executor(toolName, params, { principal, signal: ended }),
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
    if (clean === undefined) return ERROR(WITHHELD);
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

  /** Of what went wrong the peer is told what is meant for it, and that as the firewall lets it out. */
  async #failure(error: unknown): Promise<Outcome> {
    const { message, id } = toldFailure(error, this.#deps.note);
    try {
      const clean = objectOf((await this.#guard.sanitizeResponse({ message })) ?? null);
      const text = clean['message'];
      if (typeof text !== 'string') return ERROR(WITHHELD);
      return ERROR(told(id === undefined ? text : `${text} (${id})`));
    } catch {
      return ERROR(WITHHELD);
    }
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
