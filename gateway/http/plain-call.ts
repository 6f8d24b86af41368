import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EdgeCall } from './edge-call.ts';
import { originOf } from './served-names.ts';

/** Of these nothing stands for anything else: what is left out here may be said in several ways. */
const PLAIN_PATH = /^\/[\w./:~-]*$/;
const PLAIN_HOST = /^[a-z0-9.-]+(?::\d+)?$/;
const LENGTH = /^\d{1,15}$/;

/**
 * A request as Node has read it, if there is nothing about it that could be read in two ways: a plain path and host, and a
 * body of a length that it says, which is not too large. Undefined: it is for whoever knows requests in all their forms.
 */
export function plainCall(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { maxBodyBytes }: { readonly maxBodyBytes: number },
): PlainCall | undefined {
  const { url: path = '', headers } = incoming;
  const { host = '', 'content-length': length = '' } = headers;
  if (!LENGTH.test(length) || Number(length) > maxBodyBytes) return undefined;
  if (headers['transfer-encoding'] !== undefined || headers.expect !== undefined) return undefined;
  if (!PLAIN_HOST.test(host) || !PLAIN_PATH.test(path) || path.includes('/.')) return undefined;
  const origin = `${'encrypted' in incoming.socket ? 'https' : 'http'}://${host}`;
  if (plainOriginOf(origin) !== origin) return undefined;
  return new PlainCall(incoming, outgoing, { origin, path });
}

/** Undefined for what is none. */
function plainOriginOf(origin: string): string | undefined {
  try {
    return originOf(origin);
  } catch {
    return undefined;
  }
}

/** One that came over a connection of Node's. `path`: without a query, as it stands in the URL. */
export class PlainCall implements EdgeCall {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly headers: EdgeCall['headers'];
  readonly #outgoing: ServerResponse;
  #leaving: AbortController | undefined;

  constructor(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    { origin, path }: { readonly origin: string; readonly path: string },
  ) {
    this.method = incoming.method ?? '';
    this.url = origin + path;
    this.path = path;
    this.headers = new PlainHeaders(incoming.headers);
    this.#outgoing = outgoing;
  }

  /** Most callers are answered before anybody asks whether they have gone. */
  get signal(): AbortSignal {
    this.#leaving ??= leavingOf(this.#outgoing);
    return this.#leaving.signal;
  }
}

function leavingOf(outgoing: ServerResponse): AbortController {
  const leaving = new AbortController();
  const gone = (): void => {
    if (!outgoing.writableFinished) leaving.abort(GONE);
  };
  if (outgoing.destroyed) gone();
  else outgoing.once('close', gone);
  return leaving;
}

/** One for all: nobody looks at where it was made. */
const GONE = new Error('The caller has gone');

/** Headers as a server reads them that joins those of one name, as those of `fetch` are. */
class PlainHeaders implements Pick<Headers, 'get' | 'has'> {
  readonly #fields: IncomingMessage['headers'];

  constructor(fields: IncomingMessage['headers']) {
    this.#fields = fields;
  }

  get(name: string): string | null {
    const field = name.toLowerCase();
    const value = Object.hasOwn(this.#fields, field) ? this.#fields[field] : undefined;
    return typeof value === 'string' ? value : (value?.join(', ') ?? null);
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#fields, name.toLowerCase());
  }
}
