import { isDeeperThan, MAX_JSON_DEPTH } from '../../../runtime/protocol/json-depth.ts';
import type { Body } from '../../http/body.ts';
import { fault } from '../wire/faults.ts';

const MAX_SHOWN = 60;

/** Whether a media type is JSON, by its name or its ending. */
const isJson = (contentType: string): boolean =>
  /^(application\/json|[^;]+\+json)$/.test((contentType.split(';')[0] ?? '').trim().toLowerCase());

/**
 * The request's content type is one of JSON; else throws CONTENT_TYPE_NOT_SUPPORTED. A web page elsewhere can have a browser send other
 * types to a server on the same machine without being asked.
 */
export function requireJson(headers: Pick<Headers, 'get'>): void {
  const contentType = headers.get('Content-Type') ?? '';
  if (isJson(contentType)) return;
  const shown = contentType.slice(0, MAX_SHOWN);
  throw fault('CONTENT_TYPE_NOT_SUPPORTED', `Content-Type is "${shown}", expected application/json`, {
    field: 'Content-Type',
  });
}

/** What the body says; rejects with PARSE_ERROR, and with INVALID_REQUEST for what is nested too deeply. */
export async function jsonIn(body: Pick<Body, 'json'>): Promise<unknown> {
  const read = await body.json();
  if (read.kind === 'value') return read.value;
  throw read.kind === 'no-json' ? fault('PARSE_ERROR', 'The body is no JSON in UTF-8') : tooDeep();
}

/** Throws INVALID_REQUEST for lists and objects that are nested so deeply that whoever reads them would run out of stack. */
export function requireShallow(value: unknown): void {
  if (isDeeperThan(value)) throw tooDeep();
}

const tooDeep = () =>
  fault('INVALID_REQUEST', `body: is nested deeper than ${MAX_JSON_DEPTH} levels`, { field: 'body' });
