import { z } from 'zod';
import { remoteFailed } from '../../../runtime/protocol/edge-errors.ts';
import { isOrreryError, reasonOf } from '../../../runtime/protocol/errors.ts';
import { Milliseconds } from '../../../runtime/protocol/milliseconds.ts';
import { parseOptions, requireFunction, requireMethod } from '../../../runtime/protocol/parse-options.ts';
import type { Clock, NewSecret } from '../../../runtime/protocol/seams.ts';
import type { AttestationVerifier } from '../attest/attestation.ts';
import { type ByteStream, inTime, type OpenStream, sendAndClose } from '../wire/byte-stream.ts';
import {
  decodeResponse,
  encodeRequest,
  type JsonObject,
  LANGO_PROTOCOL,
  type LangoRequest,
  type LangoResponse,
} from '../wire/messages.ts';
import { uuidFrom } from '../wire/random.ts';
import { leave, readDocument } from '../wire/read-document.ts';
import { streamNotOpened } from './stream-not-opened.ts';

const Options = z.strictObject({
  id: z.string().min(1),
  name: z.string().min(1),
  did: z.string().min(1),
  peerId: z.string().min(1),
  capabilities: z.array(z.string()).readonly().default([]),
  timeoutMs: Milliseconds.default(30_000),
  maxBytes: z.int().positive().default(1_048_576),
});

/**
 * - `id`, `name`   of the agent here.
 * - `did`          of the peer.
 * - `peerId`       of the peer at its transport.
 * - `capabilities` that it is known to have. @default none
 * - `sessionToken` that the peer has given us; a function is asked before each request.
 * - `open`         opens a stream to the peer.
 * - `attestations` checks proofs: a result whose proof does not hold, or that has none, is an error then. @default a proof is logged only
 * - `timeoutMs`    for one request, with opening its stream. @default 30 seconds
 * - `maxBytes`     of a response. @default 1 MiB
 */
export type P2PRemoteAgentOptions = z.input<typeof Options> & {
  readonly sessionToken: string | (() => string | Promise<string>);
  readonly open: OpenStream;
  readonly attestations?: AttestationVerifier;
};

/** `debug` logs one line, with what it is about. */
export interface P2PRemoteAgentDeps {
  readonly clock: Pick<Clock, 'setTimer'>;
  readonly newSecret: NewSecret;
  readonly debug?: (text: string, about: Readonly<Record<string, unknown>>) => void;
}

/** `sessionToken`: in place of the agent's own, for this request. */
export interface RequestOptions {
  readonly signal?: AbortSignal;
  readonly sessionToken?: string;
}

const MAX_ERROR = 1_000;

/**
 * An agent of a peer that speaks Lango's A2A (seed 0). Each request has a stream of its own.
 *
 * All requests reject with REMOTE_UNREACHABLE ("open stream to …") if no stream can be opened; with REMOTE_FAILED, with the
 * peer's own words, for an answer that is not `ok` (`status` in the details), and for one that is none, or to another request;
 * with BODY_TOO_LARGE, DEADLINE_EXCEEDED or CANCELLED. They are never repeated.
 */
export class P2PRemoteAgent {
  readonly #options: z.output<typeof Options>;
  readonly #given: Pick<P2PRemoteAgentOptions, 'sessionToken' | 'open' | 'attestations'>;
  readonly #deps: P2PRemoteAgentDeps;

  /** Throws INVALID_OPTIONS. */
  constructor(
    { sessionToken, open, attestations, ...options }: P2PRemoteAgentOptions,
    deps: P2PRemoteAgentDeps,
  ) {
    requireFunction('P2PRemoteAgent.open', open);
    requireMethod('P2PRemoteAgent.clock', deps?.clock, 'setTimer', 'a clock, such as that of systemSeams()');
    this.#options = parseOptions(Options, options, 'P2PRemoteAgent');
    this.#given = { sessionToken, open, ...(attestations && { attestations }) };
    this.#deps = deps;
  }

  get id(): string {
    return this.#options.id;
  }

  get name(): string {
    return this.#options.name;
  }

  get did(): string {
    return this.#options.did;
  }

  get peerId(): string {
    return this.#options.peerId;
  }

  get capabilities(): readonly string[] {
    return this.#options.capabilities;
  }

  /** Calls a tool of the peer; resolves to its result. */
  async invokeTool(toolName: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    const response = await this.#request('tool_invoke', { toolName, params }, options);
    const { result = {}, attestationProof: proof } = response;
    const { attestations } = this.#given;
    if (proof !== undefined)
      this.#deps.debug?.('response has ZK attestation', {
        peerId: this.peerId,
        toolName,
        bytes: proof.length,
      });
    if (attestations === undefined) return result;
    if (proof === undefined) throw remoteFailed(this.did, 'its result has no attestation');
    await attestations.verify({ did: this.did, result, proof });
    return result;
  }

  /** What the peer can do, as it says itself: its card. */
  async queryCapabilities(options: RequestOptions = {}): Promise<JsonObject> {
    return (await this.#request('capability_query', undefined, options)).result ?? {};
  }

  /** The card of the peer. */
  async fetchAgentCard(options: RequestOptions = {}): Promise<JsonObject> {
    return (await this.#request('agent_card', undefined, options)).result ?? {};
  }

  async #request(
    type: string,
    payload: JsonObject | undefined,
    { signal, sessionToken: given }: RequestOptions,
  ): Promise<LangoResponse> {
    const sessionToken = given ?? this.#given.sessionToken;
    const limit = { what: `The request to ${this.peerId}`, ms: this.#options.timeoutMs, signal };
    const response = await inTime(this.#deps.clock, limit, async (ended) => {
      const token = typeof sessionToken === 'function' ? await sessionToken() : sessionToken;
      const requestId = uuidFrom(this.#deps.newSecret);
      return this.#exchanged({ type, sessionToken: token, requestId, payload }, ended);
    });
    if (response.status === 'ok') return response;
    const { status, error = status } = response;
    throw remoteFailed(this.peerId, error.slice(0, MAX_ERROR), { status });
  }

  async #exchanged(request: LangoRequest, signal: AbortSignal): Promise<LangoResponse> {
    const stream = await this.#opened(signal);
    const onAbort = (): void => stream.abort(signal.reason as Error);
    signal.addEventListener('abort', onAbort);
    try {
      if (signal.aborted) onAbort();
      signal.throwIfAborted();
      const chunks = stream[Symbol.asyncIterator]();
      const [text] = await Promise.all([
        readDocument(chunks, { maxBytes: this.#options.maxBytes, signal }),
        sendAndClose(stream, encodeRequest(request), signal),
      ]);
      const response = this.#answerTo(request, text);
      void leave(stream, chunks, this.#deps.clock);
      return response;
    } catch (error) {
      stream.abort(error instanceof Error ? error : new Error(reasonOf(error)));
      throw this.#told(error);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #opened(signal: AbortSignal): Promise<ByteStream> {
    try {
      return await this.#given.open(this.peerId, LANGO_PROTOCOL, { signal });
    } catch (cause) {
      throw streamNotOpened(this.peerId, cause);
    }
  }

  #answerTo({ requestId }: LangoRequest, text: string): LangoResponse {
    const response = decodeResponse(text);
    // What cannot be read there is answered without an id.
    const isOfNone = response.requestId === '' && response.status !== 'ok';
    if (response.requestId !== requestId && !isOfNone)
      throw remoteFailed(this.peerId, 'its response is to another request');
    return response;
  }

  /** What the stream failed with; `REFUSED` is how a document that is none is told. */
  #told(error: unknown): Error {
    if (isOrreryError(error) && error.code !== 'REFUSED') return error;
    return remoteFailed(
      this.peerId,
      isOrreryError(error) ? error.message : `the stream broke: ${reasonOf(error)}`,
    );
  }
}
