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
import { perform, type Performed, dialectOf } from '../endpoint.ts';
import type { Admit } from '../../../http/gateway-part.ts';
import type { EdgeCall } from '../../../http/edge-call.ts';
import { ShortBody } from '../../../http/body.ts';
import { type ExchangeEdge, exchangeWith } from '../../../http/exchange.ts';
import { fault, FAULT_ROWS, faultOf, internalFault } from '../../wire/faults.ts';
import { requireShallow } from '../json-over-http.ts';
import { activeOf, ExchangeCaller } from '../caller.ts';
import { V1 } from '../../wire/v1/dialect.ts';
import { type MemberLimits, requireFewMembers } from '../../../http/json-text.ts';
import { GRPC_METHODS, type GrpcMethod } from './grpc-methods.ts';
import { EXTENSION_HEADERS, VERSION_HEADER } from '../../wire/dialect.ts';
import { encodeGrpcStatusDetails, GRPC_STATUS_CODE, GRPC_STATUS_DETAILS_BIN } from '@a2a-js/sdk/errors/grpc';
import { writeError } from '../../wire/v1/errors.ts';

/**
 * - `scheme`  by which callers come: `https` where they come by TLS.
 * - `members` how many a message may have, as JSON.
 */
export interface GrpcHandlersDeps {
  readonly service: A2AService;
  readonly edge: ExchangeEdge<ReceivedCall>;
  readonly scheme: 'http' | 'https';
  readonly members: MemberLimits;
  readonly signer?: CardSigner | undefined;
}

type UnaryCall = ServerUnaryCall<Buffer, Buffer>;
type StreamCall = ServerWritableStream<Buffer, Buffer>;

/** The service definition with messages as raw bytes, because signatures are over these. */
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

/** The handlers of the service's methods. */
export function grpcHandlers(deps: GrpcHandlersDeps): Record<string, UntypedHandleCall> {
  const handlers = [...GRPC_METHODS].map(([name, method]) => [
    name,
    method.isStream ? streamHandler(deps, method) : unaryHandler(deps, method),
  ]);
  return Object.fromEntries(handlers) as Record<string, UntypedHandleCall>;
}

function unaryHandler(deps: GrpcHandlersDeps, method: GrpcMethod) {
  return (call: UnaryCall, answer: sendUnaryData<Buffer>): Promise<void> =>
    answered(deps, method, call, {
      send: async (performed) => {
        if (performed.kind === 'answer') answer(null, method.write(performed.result));
      },
      fail: (status) => answer(status),
    });
}

function streamHandler(deps: GrpcHandlersDeps, method: GrpcMethod) {
  return (call: StreamCall): Promise<void> =>
    answered(deps, method, call, {
      send: async (performed, signal) => {
        if (performed.kind === 'stream') await pour(performed, method, call, signal);
        if (deps.edge.closing.aborted)
          throw fault('UNAVAILABLE', 'The server ends: subscribe to the task elsewhere, or later');
        call.end();
      },
      fail: (status) => void call.emit('error', status),
    });
}

type Status = Pick<StatusObject, 'code' | 'details' | 'metadata'>;

/** How the answer of a call is sent, or what it ends by. */
interface Sending {
  send(performed: Performed, signal: AbortSignal): Promise<void>;
  fail(status: Status): void;
}

function answered(
  deps: GrpcHandlersDeps,
  method: GrpcMethod,
  call: UnaryCall | StreamCall,
  sending: Sending,
): Promise<void> {
  const { edge } = deps;
  const received = new ReceivedCall(call, `${deps.scheme}://${call.getHost()}${method.path}`, method.path);
  return exchangeWith(edge, received, {
    decode: ({ bytes }) => {
      const version = received.headers.get(VERSION_HEADER) ?? undefined;
      if (version !== undefined) dialectOf([V1], version);
      return read(method, bytes as Buffer, deps.members);
    },
    handle: async (params, exchange) => {
      const { service, signer } = deps;
      const { tenant } = params;
      const extensions = activate(deps, call, received.headers.get(EXTENSION_HEADERS[0]) ?? '');
      const agentId = typeof tenant === 'string' && tenant !== '' ? tenant : undefined;
      const caller = new ExchangeCaller(exchange, { agentId, extensions });
      const wanted = { dialect: V1, operation: method.operation, params };
      await sending.send(await perform({ service, signer }, wanted, caller), exchange.signal);
    },
    refuse: (error) => sending.fail(statusOf(shown(edge, error, received))),
  });
}

/**
 * What the edge of gRPC calls is made of.
 *
 * - `baseUrl` under which callers reach the gateway over HTTP, for cards.
 * - `closing` aborts when the server is to end.
 * - `onFault` hears of errors that no caller is told of.
 */
export interface GrpcEdgeOptions {
  readonly admit: Admit;
  readonly baseUrl: string;
  readonly closing: AbortSignal;
  readonly onFault?: ((error: unknown, path: string) => void) | undefined;
}

/** The edge of gRPC calls, whose message is here whole. */
export const grpcEdge = ({
  admit,
  baseUrl,
  closing,
  onFault,
}: GrpcEdgeOptions): ExchangeEdge<ReceivedCall> => ({
  closing,
  admit,
  baseUrl: () => baseUrl,
  addressOf: ({ address }) => address,
  read: async ({ message }) => new ShortBody(message),
  fault: (error, { path }) => onFault?.(error, path),
});

/** A call whose message has come. `signal` aborts when its caller gives up, or its deadline is over. */
class ReceivedCall implements EdgeCall {
  readonly method = 'POST';
  readonly url: string;
  readonly path: string;
  readonly headers: EdgeCall['headers'];
  readonly address: string;
  readonly message: Buffer;
  readonly signal: AbortSignal;

  constructor(call: UnaryCall | StreamCall, url: string, path: string) {
    this.url = url;
    this.path = path;
    this.headers = headersOf(call.metadata);
    this.address = addressOf(call.getPeer());
    this.message = call.request;
    const gone = new AbortController();
    (call as EventEmitter).on('cancelled', () => gone.abort());
    if (call.cancelled) gone.abort();
    this.signal = gone.signal;
  }
}

/** The error as its caller may see it. What is INTERNAL the operator is told, and the caller only that it was. */
function shown(edge: ExchangeEdge<ReceivedCall>, error: unknown, call: ReceivedCall): OrreryError {
  if (isOrreryError(error) && faultOf(error) !== 'INTERNAL') return error;
  edge.fault(error, call);
  return internalFault();
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

/** Reads the extensions that a call activates, and sends them back as initial metadata. */
function activate(
  { service }: GrpcHandlersDeps,
  call: UnaryCall | StreamCall,
  asked: string,
): readonly string[] {
  const active = activeOf(service.extensions, asked);
  const echoed = new Metadata();
  if (active.length > 0) echoed.set(EXTENSION_HEADERS[0], active.join(', '));
  call.sendMetadata(echoed);
  return active;
}

/** Metadata as headers. Repeated keys are joined; binary ones are left out. */
function headersOf(metadata: Metadata): EdgeCall['headers'] {
  const get = (name: string): string | null => {
    const texts = metadata.get(name.toLowerCase()).filter((value) => typeof value === 'string');
    return texts.length === 0 ? null : texts.join(', ');
  };
  return { get, has: (name) => get(name) !== null };
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
function statusOf(error: OrreryError): Status {
  const code = GRPC_STATUS_CODE[FAULT_ROWS[faultOf(error)].rpcStatus as keyof typeof GRPC_STATUS_CODE];
  const { message, data } = writeError(error);
  const [info] = data as unknown as readonly [ErrorInfo];
  const metadata = new Metadata();
  metadata.set(GRPC_STATUS_DETAILS_BIN, encodeGrpcStatusDetails(code, message, info.reason, info.metadata));
  return { code, details: message, metadata };
}
