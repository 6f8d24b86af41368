import { isOrreryError, type OrreryError } from '../../../runtime/protocol/errors.ts';
import type { Answer } from '../../http/answer.ts';
import type { Edge } from '../../http/gateway-part.ts';
import type { EdgeCall } from '../../http/edge-call.ts';
import type { Body } from '../../http/body.ts';
import type { A2AService } from './a2a-service.ts';
import type { CardSigner } from '../wire/card-signature.ts';
import type { Json } from '../wire/json.ts';
import { type Dialect, LAST_EVENT_HEADER, VERSION_HEADER } from '../wire/dialect.ts';
import { fault, faultOf, internalFault, wrongParameter } from '../wire/faults.ts';
import type { Caller } from './caller.ts';
import type { OperationName, Operations, StreamItem } from '../wire/operations.ts';

/** What every binding of A2A over HTTP is made of. `heartbeatMs`: how often a stream shows that it lives. */
export interface EndpointDeps {
  readonly service: A2AService;
  readonly edge: Edge;
  readonly heartbeatMs: number;
  readonly signer?: CardSigner | undefined;
}

/** Answers a request. `agentId` as the URL names it; undefined: it names none. */
export type Endpoint = (call: EdgeCall, agentId: string | undefined) => Promise<Answer>;

/** The result of an operation: one answer, or a stream of items. */
export type Performed =
  | { readonly kind: 'answer'; readonly result: Json }
  | {
      readonly kind: 'stream';
      readonly items: AsyncIterable<StreamItem>;
      readonly write: (item: StreamItem) => Json;
    };

/**
 * An operation with its input, as a dialect reads it.
 *
 * - `after` the last event that the caller has seen of a stream.
 * - `turn`  as that of the body which says so. @default it is short
 */
export interface Wanted {
  readonly dialect: Dialect;
  readonly operation: OperationName;
  readonly params: unknown;
  readonly after?: number | undefined;
  readonly turn?: Body['turn'];
}

/** Reads, performs and writes, each in a turn of its own. Rejects with errors that `faultOf` names, and as `turn` does. */
export async function perform(
  { service, signer }: Pick<EndpointDeps, 'service' | 'signer'>,
  wanted: Wanted,
  caller: Caller,
): Promise<Performed> {
  const { dialect, operation, after, turn } = wanted;
  if (operation === 'stream') {
    const order = readWith(wanted, 'stream');
    await turn?.();
    return streamIn(dialect, operation, await service.perform('stream', order, caller));
  }
  if (operation === 'subscribe') {
    const order = readWith(wanted, 'subscribe');
    const input = after === undefined ? order : { ...order, after };
    return streamIn(dialect, operation, await service.perform('subscribe', input, caller));
  }
  const order = readWith(wanted, operation);
  await turn?.();
  const result = await service.perform(operation, order, caller);
  await turn?.();
  const write = dialect.write[operation] as ((value: unknown) => Json) | undefined;
  const written = write?.(result) ?? null;
  return {
    kind: 'answer',
    result: operation === 'extendedCard' && signer !== undefined ? await signer(written) : written,
  };
}

/** The stream as the dialect tells it. */
const streamIn = (
  dialect: Dialect,
  operation: 'stream' | 'subscribe',
  items: AsyncIterable<StreamItem>,
): Performed => ({
  kind: 'stream',
  items: dialect.itemsOf?.(operation, items) ?? items,
  write: dialect.itemWriter?.(operation) ?? ((item) => dialect.writeItem(item)),
});

/** What a dialect reads of the parameters of an operation; throws UNSUPPORTED_OPERATION for one that it has not got. */
export function readWith<Name extends OperationName>(
  { dialect, params }: Wanted,
  operation: Name,
): Operations[Name]['in'] {
  const read = dialect.read[operation] as ((value: unknown) => Operations[Name]['in']) | undefined;
  if (read === undefined)
    throw fault('UNSUPPORTED_OPERATION', `A2A ${dialect.version} has no operation ${operation}`);
  return read(params);
}

/** The agent that a request is for, as its URL or its tenant names it. Throws INVALID_PARAMS when they differ. */
export function agentMeant(inUrl: string | undefined, tenant: unknown): string | undefined {
  if (tenant === undefined || tenant === null || tenant === '') return inUrl;
  if (typeof tenant !== 'string') throw wrongParameter('tenant', tenant, 'a string');
  if (inUrl !== undefined && inUrl !== tenant)
    throw wrongParameter('tenant', tenant, `that of the URL, "${inUrl}"`);
  return tenant;
}

/** The event number that a client says it has seen last; throws INVALID_PARAMS when it is none. */
export function lastEventId(headers: Pick<Headers, 'get'>): number | undefined {
  const said = headers.get(LAST_EVENT_HEADER);
  if (said === null || said === '') return undefined;
  if (!/^\d{1,15}$/.test(said)) throw wrongParameter(LAST_EVENT_HEADER, said, 'the id of an event');
  return Number(said);
}

/** The number by which a client can come back after this item; 0 where there is nothing to come back to. */
export function eventIdOf(item: StreamItem): number {
  if (item.kind === 'message') return 0;
  return item.kind === 'task' ? item.task.generation : item.change.generation;
}

/** Whether the error was made for callers: its cause is noted already. */
const isMadeForCallers = ({ details }: OrreryError): boolean => details['fault'] === 'INTERNAL';

/** The error as its caller may see it. What is INTERNAL the operator is told, and the caller only that it was. */
export function shownBy(edge: Edge, error: unknown, call: EdgeCall): OrreryError {
  if (isOrreryError(error) && (faultOf(error) !== 'INTERNAL' || isMadeForCallers(error))) return error;
  edge.fault(error, call);
  return internalFault();
}

/** The version of a request that names none. */
const UNSAID = '0.3';
/** The dialect from before there were versions: no request names it. */
const UNNAMED = '0.1';

/** The version that a request says it speaks, by the header or the query parameter; empty is unsaid. */
export function saidVersion({ headers, url }: Pick<EdgeCall, 'headers' | 'url'>): string | undefined {
  const said = headers.get(VERSION_HEADER) ?? new URL(url).searchParams.get(VERSION_HEADER);
  const version = said?.trim();
  return version === undefined || version === '' ? undefined : version;
}

/**
 * The dialect of a request: that of its version, where the patch number does not count; without one that of 0.3. Throws
 * VERSION_NOT_SUPPORTED.
 */
export function dialectOf(dialects: readonly Dialect[], said: string | undefined): Dialect {
  const wanted = said === undefined ? UNSAID : /^\d+\.\d+(?=$|\.\d+$)/.exec(said)?.[0];
  const dialect = wanted === UNNAMED ? undefined : dialects.find(({ version }) => version === wanted);
  if (dialect !== undefined) return dialect;
  const versions = dialects.map(({ version }) => version).filter((version) => version !== UNNAMED);
  throw fault(
    'VERSION_NOT_SUPPORTED',
    `${VERSION_HEADER}: is ${said === undefined ? `left out, which means ${UNSAID}` : `"${said}"`}, expected one of ${versions.join(', ')}`,
    { field: VERSION_HEADER, value: said ?? UNSAID, versions },
  );
}

/**
 * The dialect of a JSON-RPC request: as `dialectOf`, but who names no version may also use the methods of the dialect before
 * there were versions; those of its methods that are also some of 0.3's are its own to tell apart. Throws
 * VERSION_NOT_SUPPORTED, METHOD_NOT_FOUND.
 */
export function dialectOfMethod(
  dialects: readonly Dialect[],
  said: string | undefined,
  method: string,
): Dialect {
  const has = (dialect: Dialect): boolean => Object.hasOwn(dialect.methods, method);
  const old = dialects.find((candidate) => candidate.version === UNNAMED && has(candidate));
  if (said === undefined && old !== undefined) return old;
  const dialect = dialectOf(dialects, said);
  if (has(dialect)) return dialect;
  const other = dialects.find((candidate) => candidate.version !== UNNAMED && has(candidate));
  const hint =
    other === undefined ? '' : `; it is one of ${other.version}, which the header ${VERSION_HEADER} says`;
  throw fault('METHOD_NOT_FOUND', `There is no method "${method}" in A2A ${dialect.version}${hint}`, {
    method,
    version: dialect.version,
  });
}

/** The dialect for the error of a request of which only the version is known. */
export function dialectForErrors(dialects: readonly Dialect[], said: string | undefined): Dialect {
  try {
    return dialectOf(dialects, said);
  } catch (error) {
    const [newest] = dialects;
    if (newest === undefined) throw error;
    return newest;
  }
}
