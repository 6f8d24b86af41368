import type { EventEmitter } from 'node:events';
import {
  Metadata,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type StatusObject,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { isOrreryError, type OrreryError } from '../../../../runtime/protocol/errors.ts';
import type { A2AService } from '../a2a-service.ts';
import type { CardSigner } from '../../wire/card-signature.ts';
import { perform, type Performed } from '../endpoint.ts';
import { abortsWith, urisOf } from '../exchange.ts';
import { fault, faultOf, internalFault } from '../../wire/faults.ts';
import { requireShallow } from '../json-body.ts';
import type { Caller } from '../caller.ts';
import { V1 } from '../../wire/v1/dialect.ts';
import { dialectOf } from '../versions.ts';
import type { Admit } from '../../../http/gateway-part.ts';
import { type MemberLimits, requireFewMembers } from '../../../http/member-counter.ts';
import { GRPC_METHODS, type GrpcMethod } from './grpc-methods.ts';
import { EXTENSION_HEADERS, VERSION_HEADER } from '../../wire/headers.ts';
import { encodeGrpcStatusDetails, GRPC_STATUS_CODE, GRPC_STATUS_DETAILS_BIN } from '@a2a-js/sdk/errors/grpc';
import { rpcStatusOf } from '../rpc-status.ts';
import { writeError } from '../../wire/v1/errors.ts';

/**
 * - `baseUrl` under which callers reach the gateway over HTTP, for cards.
 * - `scheme`  by which callers come: `https` where they come by TLS.
 * - `members` how many a message may have, as JSON.
 * - `closing` aborts when the server is to end.
 * - `onFault` hears of errors that no caller is told of.
 */
export interface GrpcHandlersDeps {
  readonly service: A2AService;
  readonly admit: Admit;
  readonly baseUrl: string;
  readonly scheme: 'http' | 'https';
  readonly members: MemberLimits;
  readonly closing: AbortSignal;
  readonly signer?: CardSigner | undefined;
  readonly onFault?: ((error: unknown, path: string) => void) | undefined;
}

type UnaryCall = ServerUnaryCall<Buffer, Buffer>;
type StreamCall = ServerWritableStream<Buffer, Buffer>;

/** The service with messages as the bytes that they came as: whoever signs them signs these. */
export const GRPC_SERVICE: ServiceDefinition = Object.fromEntries(
  [...GRPC_METHODS].map(([name, { path, isStream }]) => [
    name,
    {
      path,
      requestStream: false,
      responseStream: isStream,
      requestSerialize: asItIs,
      requestDeserialize: asItIs,
      responseSerialize: asItIs,
      responseDeserialize: asItIs,
    },
  ]),
);

function asItIs(bytes: Buffer): Buffer {
  return bytes;
}

/** What answers the methods of the service. */
export function grpcHandlers(deps: GrpcHandlersDeps): Record<string, UntypedHandleCall> {
  const handlers = [...GRPC_METHODS].map(([name, method]) => [
    name,
    method.isStream ? streamHandler(deps, method) : unaryHandler(deps, method),
  ]);
  return Object.fromEntries(handlers) as Record<string, UntypedHandleCall>;
}

function unaryHandler(deps: GrpcHandlersDeps, method: GrpcMethod) {
  return async (call: UnaryCall, answer: sendUnaryData<Buffer>): Promise<void> => {
    const scope = scopeOf(deps, call);
    try {
      const performed = await run(deps, method, call, scope.signal);
      if (performed.kind === 'answer') answer(null, method.write(performed.result));
    } catch (error) {
      answer(statusOf(shown(deps, error, method)));
    } finally {
      scope.close();
    }
  };
}

function streamHandler(deps: GrpcHandlersDeps, method: GrpcMethod) {
  return async (call: StreamCall): Promise<void> => {
    const scope = scopeOf(deps, call);
    try {
      const performed = await run(deps, method, call, scope.signal);
      if (performed.kind === 'stream') await pour(performed, method, call, scope.signal);
      if (deps.closing.aborted)
        throw fault('UNAVAILABLE', 'The server ends: subscribe to the task elsewhere, or later');
      call.end();
    } catch (error) {
      call.emit('error', statusOf(shown(deps, error, method)));
    } finally {
      scope.close();
    }
  };
}

/** The error as its caller may see it. What is INTERNAL the operator is told, and the caller only that it was. */
function shown({ onFault }: GrpcHandlersDeps, error: unknown, { path }: GrpcMethod): OrreryError {
  if (isOrreryError(error) && faultOf(error) !== 'INTERNAL') return error;
  onFault?.(error, path);
  return internalFault();
}

/** Aborts when the caller gives up, its deadline is over, or the server is to end. */
function scopeOf({ closing }: GrpcHandlersDeps, call: UnaryCall | StreamCall) {
  const gone = new AbortController();
  (call as EventEmitter).on('cancelled', () => gone.abort());
  if (call.cancelled) gone.abort();
  return abortsWith(gone.signal, closing);
}

/** Lets the caller in, reads what it wants, and performs it. */
async function run(
  deps: GrpcHandlersDeps,
  method: GrpcMethod,
  call: UnaryCall | StreamCall,
  signal: AbortSignal,
): Promise<Performed> {
  const { service, admit, scheme, signer, members } = deps;
  const headers = headersOf(call.metadata);
  const bytes = call.request;
  const url = `${scheme}://${call.getHost()}${method.path}`;
  const principal = await admit({
    method: 'POST',
    url,
    headers,
    body: bytes,
    address: addressOf(call.getPeer()),
  });
  const version = headers.get(VERSION_HEADER) ?? undefined;
  if (version !== undefined) dialectOf([V1], version);
  const params = read(method, bytes, members);
  const { tenant } = params;
  const caller: Caller = {
    principal,
    baseUrl: deps.baseUrl,
    agentId: typeof tenant === 'string' && tenant !== '' ? tenant : undefined,
    terms: {},
    extensions: activate(deps, call, headers.get(EXTENSION_HEADERS[0]) ?? ''),
    signal,
  };
  return perform({ service, signer }, { dialect: V1, operation: method.operation, params }, caller);
}

function read(method: GrpcMethod, bytes: Buffer, members: MemberLimits): Readonly<Record<string, unknown>> {
  const params = parsed(method, bytes, members);
  requireShallow(params);
  requireFewMembers(params, members);
  return params;
}

function parsed(method: GrpcMethod, bytes: Buffer, members: MemberLimits): Readonly<Record<string, unknown>> {
  try {
    return method.read(bytes, members);
  } catch (error) {
    if (isOrreryError(error)) throw error;
    throw fault('PARSE_ERROR', `The message is none that ${method.path} takes`);
  }
}

/** The extensions that the call activates, which are said back to it before anything else. */
function activate(
  { service }: GrpcHandlersDeps,
  call: UnaryCall | StreamCall,
  asked: string,
): readonly string[] {
  const uris = urisOf(asked);
  const active = service.extensions.filter(({ uri }) => uris.includes(uri)).map(({ uri }) => uri);
  const echoed = new Metadata();
  if (active.length > 0) echoed.set(EXTENSION_HEADERS[0], active.join(', '));
  call.sendMetadata(echoed);
  return active;
}

/** Metadata as headers: what is there more than once is one list; bytes are nobody's credentials. */
function headersOf(metadata: Metadata): Pick<Headers, 'get'> {
  return {
    get: (name) => {
      const texts = metadata.get(name.toLowerCase()).filter((value) => typeof value === 'string');
      return texts.length === 0 ? null : texts.join(', ');
    },
  };
}

/** Writes the items as fast as the caller takes them. */
async function pour(
  { items, write }: Extract<Performed, { kind: 'stream' }>,
  method: GrpcMethod,
  call: StreamCall,
  signal: AbortSignal,
): Promise<void> {
  for await (const item of items) {
    if (signal.aborted) return;
    if (!call.write(method.write(write(item)))) await drained(call, signal);
  }
}

function drained(call: StreamCall, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      call.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    call.once('drain', done);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}

/** The address of a peer as gRPC names it: with its port, and brackets around IPv6. */
function addressOf(peer: string): string {
  const at = peer.lastIndexOf(':');
  return (at < 0 ? peer : peer.slice(0, at)).replace(/^(ipv[46]:)?\[?/, '').replace(/\]$/, '');
}

type ErrorInfo = { readonly reason: string; readonly metadata: Record<string, string> };

/** An error as a status of gRPC, with its ErrorInfo in `grpc-status-details-bin`. */
function statusOf(error: OrreryError): Pick<StatusObject, 'code' | 'details' | 'metadata'> {
  const code = GRPC_STATUS_CODE[rpcStatusOf(faultOf(error)) as keyof typeof GRPC_STATUS_CODE];
  const { message, data } = writeError(error);
  const [info] = data as unknown as readonly [ErrorInfo];
  const metadata = new Metadata();
  metadata.set(GRPC_STATUS_DETAILS_BIN, encodeGrpcStatusDetails(code, message, info.reason, info.metadata));
  return { code, details: message, metadata };
}
