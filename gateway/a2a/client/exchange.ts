import { z } from 'zod';
import { remoteFailed } from '../../../runtime/protocol/edge-errors.ts';
import { isOrreryError, OrreryError, reasonOf } from '../../../runtime/protocol/errors.ts';
import { parseShallowJson } from '../../../runtime/protocol/json.ts';
import { faultsOf } from '../../../runtime/protocol/payload-faults.ts';
import type { RemoteEvent } from '../../../runtime/protocol/remote-agent.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import type { Span, Tracer } from '../../../runtime/protocol/tracer.ts';
import type { Json } from '../wire/json.ts';
import type { RemoteInterface } from './card/remote-card.ts';
import type { ClientSettings } from './client-options.ts';
import type { HttpAnswer, HttpCalls } from './http-calls.ts';
import { retryAfterMsOf } from '../../../runtime/protocol/retry-after.ts';
import { errorOf, saidInBody, saidInRpc } from './remote-errors.ts';
import { credentialHeaders, protocolHeaders } from './request-headers.ts';
import { serverSentEvents } from '../../reach/server-sent-events.ts';
import { CLIENT_DIALECTS, type ClientDialect } from './dialects.ts';
import { type OrderName, type Orders, LAST_EVENT_HEADER } from '../wire/dialect.ts';
import { schemaOfEvent } from '../wire/answers.ts';
import { type RestRequest, restRequest } from '../wire/rest-routes.ts';

export interface ExchangeDeps {
  readonly calls: HttpCalls;
  readonly settings: ClientSettings;
  readonly clock: Pick<Clock, 'now'>;
  /** Whether the card announces our extension. */
  readonly announcesOurs: boolean;
  readonly newId: () => string;
  readonly tracer?: Tracer | undefined;
}

/** An event of a stream. A stream can be resumed after its id, if it has one. */
export interface StreamedEvent {
  readonly event: RemoteEvent;
  readonly id: string | undefined;
}

/** How many bytes the streams of one call may bring, and how many they have brought. */
export interface ByteBound {
  readonly maxBytes: number;
  takenBytes: number;
}

interface Prepared {
  readonly url: URL;
  readonly method: RestRequest['method'];
  readonly mediaType: string;
  readonly body: string | undefined;
  /** The id of the JSON-RPC request. */
  readonly id: string | undefined;
}

const RpcAnswer = z.object({
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});

/** One interface of an agent: writes orders for it, and reads its answers. */
export class Exchange {
  readonly interface: RemoteInterface;
  readonly dialect: ClientDialect;
  readonly #deps: ExchangeDeps;

  constructor(remote: RemoteInterface, deps: ExchangeDeps) {
    this.interface = remote;
    this.dialect = CLIENT_DIALECTS[remote.version];
    this.#deps = deps;
  }

  get origin(): string {
    return this.interface.url.origin;
  }

  /** Whether this version has the operation at all. */
  has(name: OrderName): boolean {
    const { write, rest } = this.dialect;
    return (this.interface.binding === 'JSONRPC' ? write : rest?.write)?.[name] !== undefined;
  }

  /** Resolves to the answer's JSON. Rejects with the other side's error, REMOTE_UNREACHABLE, REMOTE_FAILED or CANCELLED. */
  async ask<Name extends OrderName>(name: Name, order: Orders[Name], signal?: AbortSignal): Promise<unknown> {
    const prepared = this.#prepare(name, order);
    const answer = await this.#call(
      prepared,
      'application/json',
      {},
      this.#deps.settings.maxAnswerBytes,
      signal,
    );
    return this.#result(await this.#json(answer), answer, prepared);
  }

  /**
   * The events of the answer, as they come. If the other side answers without a stream, its answer is the only event.
   * Fails as `ask` does.
   */
  async *open<Name extends 'stream' | 'subscribe'>(
    name: Name,
    order: Orders[Name],
    {
      lastEventId,
      signal,
      bound,
    }: {
      readonly lastEventId?: string | undefined;
      readonly signal?: AbortSignal | undefined;
      readonly bound: ByteBound;
    },
  ): AsyncGenerator<StreamedEvent, void> {
    const { settings } = this.#deps;
    const prepared = this.#prepare(name, order);
    const resume = lastEventId === undefined ? {} : { [LAST_EVENT_HEADER]: lastEventId };
    const answer = await this.#call(prepared, 'text/event-stream', resume, bound.maxBytes, signal);
    if (!isEventStream(answer) || answer.status >= 400) {
      const value = this.#result(await this.#json(answer), answer, prepared);
      yield { event: this.#event(value), id: undefined };
      return;
    }
    const bytes = this.#bounded(answer.body, bound);
    for await (const { type, data, id } of serverSentEvents(bytes, {
      maxChars: settings.maxAnswerBytes,
      from: this.origin,
    })) {
      const value = parseJson(data, this.origin);
      if (type === 'error') throw this.#errorIn(value, answer);
      yield {
        event: this.#event(this.#result(value, answer, prepared)),
        id: id === undefined || CAN_BE_HEADER.test(id) ? id : undefined,
      };
    }
  }

  /** Parses an answer by the schema. Throws REMOTE_FAILED naming field and value. */
  read<Value>(schema: z.ZodType<Value>, value: unknown): Value {
    return this.#understood(() => {
      const parsed = schema.safeParse(value, { reportInput: true });
      if (parsed.success) return parsed.data;
      throw remoteFailed(this.origin, `its answer is not one of A2A: ${faultsOf(parsed.error, value)}`);
    });
  }

  /** Turns whatever `read` throws into REMOTE_FAILED: the answer is at fault. */
  #understood<Value>(read: () => Value): Value {
    try {
      return read();
    } catch (error) {
      if (isOrreryError(error)) throw error;
      throw remoteFailed(this.origin, `its answer cannot be read: ${reasonOf(error)}`);
    }
  }

  async *#bounded(bytes: AsyncIterable<Uint8Array>, bound: ByteBound): AsyncGenerator<Uint8Array, void> {
    const { maxBytes } = bound;
    for await (const chunk of bytes) {
      bound.takenBytes += chunk.length;
      if (bound.takenBytes > maxBytes)
        throw remoteFailed(this.origin, `its streams are larger than ${maxBytes} bytes`, { maxBytes });
      yield chunk;
    }
  }

  #event(value: unknown): RemoteEvent {
    const { schema, inner } = schemaOfEvent(value);
    return this.read(schema, inner);
  }

  #prepare<Name extends OrderName>(name: Name, order: Orders[Name]): Prepared {
    const { url, binding, tenant } = this.interface;
    const { name: version, methods, rest } = this.dialect;
    const isRpc = binding === 'JSONRPC';
    const write = (isRpc ? this.dialect : rest)?.write[name] as
      | ((order: Orders[Name]) => { readonly [key: string]: Json })
      | undefined;
    const params = write?.(order);
    if (isRpc) {
      if (params === undefined) throw remoteFailed(this.origin, `A2A ${version} has no operation "${name}"`);
      const id = this.#deps.newId();
      const scoped = tenant === undefined || version !== '1.0' ? params : { tenant, ...params };
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: methods[name], params: scoped });
      return { url, method: 'POST', mediaType: 'application/json', body, id };
    }
    const asked = rest && params && restRequest(rest.routes, name, params);
    if (rest === undefined || asked === undefined)
      throw remoteFailed(this.origin, `A2A ${version} has no operation "${name}" over REST`);
    const { method, path, fields } = asked;
    const hasBody = method !== 'GET' && (rest.hasEmptyBody || Object.keys(fields).length > 0);
    const prefix = tenant === undefined ? '' : `/${encodeURIComponent(tenant)}`;
    return {
      url: new URL(`${url.href.replace(/\/+$/, '')}${prefix}${path}`),
      method,
      mediaType: rest.contentType,
      body: hasBody ? JSON.stringify(fields) : undefined,
      id: undefined,
    };
  }

  async #call(
    { url, method, body, mediaType }: Prepared,
    accept: string,
    resume: Readonly<Record<string, string>>,
    maxBytes: number,
    signal: AbortSignal | undefined,
  ): Promise<HttpAnswer> {
    const { calls, settings, announcesOurs } = this.#deps;
    const proof = await credentialHeaders(settings, { method, url: url.href, body: body ?? '' });
    const headers = {
      accept: accept === 'application/json' ? `${accept}, ${mediaType}` : `${accept}, application/json`,
      ...(body === undefined ? {} : { 'content-type': mediaType }),
      ...protocolHeaders(this.dialect.version, settings, announcesOurs),
      ...resume,
      ...proof,
    };
    const { idleMs } = settings;
    const span = this.#spanOf(method, url);
    const answered = calls.call({
      url,
      method,
      headers: { ...headers, ...span?.context },
      idleMs,
      maxBytes,
      signal,
      ...(body === undefined ? {} : { body }),
    });
    return span === undefined ? answered : endsWith(span, answered);
  }

  /** The span of a request until its answer begins, which the other side is told of, if somebody traces. */
  #spanOf(method: string, { hostname, port, protocol }: URL): Span | undefined {
    return this.#deps.tracer?.start({
      name: method,
      kind: 'client',
      attributes: {
        'http.request.method': method,
        'server.address': hostname,
        'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
      },
    });
  }

  async #json(answer: HttpAnswer): Promise<unknown> {
    const { maxAnswerBytes: maxBytes } = this.#deps.settings;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of answer.body) {
      bytes += chunk.length;
      if (bytes > maxBytes)
        throw remoteFailed(this.origin, `its answer is larger than ${maxBytes} bytes`, { maxBytes });
      chunks.push(chunk);
    }
    const text = Buffer.concat(chunks).toString('utf8');
    if (answer.status < 400) return parseJson(text, this.origin);
    try {
      return parseJson(text, this.origin);
    } catch {
      return undefined;
    }
  }

  #result(value: unknown, answer: HttpAnswer, { id }: Prepared): unknown {
    if (id === undefined || answer.status >= 400) {
      if (answer.status >= 400) throw this.#errorIn(value, answer);
      const { rest } = this.dialect;
      return rest === undefined ? value : this.#understood(() => rest.unwrap(value));
    }
    const parsed = RpcAnswer.safeParse(value);
    if (!parsed.success) throw remoteFailed(this.origin, 'its answer is not one of JSON-RPC');
    const { id: answered, result, error } = parsed.data;
    if (error !== undefined && error !== null) throw this.#errorIn(value, answer);
    if (answered !== id)
      throw remoteFailed(
        this.origin,
        `its answer is to request ${JSON.stringify(answered ?? null)}, not to ${id}`,
      );
    return result;
  }

  #errorIn(value: unknown, { status, headers }: HttpAnswer): Error {
    const retryAfterMs = retryAfterMsOf(headers['retry-after'], this.#deps.clock.now());
    const { error } = (typeof value === 'object' && value !== null ? value : {}) as { error?: unknown };
    const isRpc =
      typeof (error as { code?: unknown } | undefined)?.code === 'number' &&
      this.interface.binding === 'JSONRPC';
    const said = isRpc ? saidInRpc(error, status, retryAfterMs) : saidInBody(value, status, retryAfterMs);
    return errorOf(this.origin, said);
  }
}

async function endsWith(span: Span, answered: Promise<HttpAnswer>): Promise<HttpAnswer> {
  try {
    const answer = await answered;
    span.set({ 'http.response.status_code': answer.status });
    span.end(answer.status >= 400 ? { code: String(answer.status) } : undefined);
    return answer;
  } catch (error) {
    span.end(error instanceof Error ? error : { code: 'REMOTE_UNREACHABLE' });
    throw error;
  }
}

const isEventStream = ({ headers }: HttpAnswer): boolean =>
  headers['content-type']?.toLowerCase().startsWith('text/event-stream') ?? false;

/** Event ids that a header can carry. Others are dropped: nobody could resume after them. */
const CAN_BE_HEADER = /^[\x20-\x7e]{0,1000}$/;

/** Parses a text. Throws REMOTE_FAILED if it is no JSON, or nested too deeply. */
function parseJson(text: string, origin: string): unknown {
  try {
    return parseShallowJson(text);
  } catch (error) {
    throw remoteFailed(origin, `its answer is not JSON: ${reasonOf(error)}`, { begin: text.slice(0, 80) });
  }
}

/** Whether the call cannot have arrived: then it may be made again, whatever it asks for. */
export function cannotHaveArrived(error: unknown): boolean {
  if (!isOrreryError(error) || error.details['mayHaveArrived'] === true) return false;
  if (error.code === 'RATE_LIMITED') return true;
  return error.code === 'REMOTE_UNREACHABLE' && error.details['mayHaveArrived'] === false;
}

/** Whether another try may help. Only for calls that may be made twice. */
export const mayPassLater = (error: unknown): boolean =>
  isOrreryError(error) && (error.code === 'REMOTE_UNREACHABLE' || error.code === 'RATE_LIMITED');

/** The error of the last attempt. If a former attempt may have arrived, the error says so, whatever its code. */
export function afterOthers(error: unknown, mayHaveArrived: boolean): unknown {
  if (!mayHaveArrived || !isOrreryError(error) || error.details['mayHaveArrived'] === true) return error;
  return new OrreryError(error.code, error.message, {
    details: { ...error.details, mayHaveArrived },
    cause: error,
  });
}
