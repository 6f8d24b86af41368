import type { EdgeRequest } from '../../runtime/protocol/admission.ts';
import type { Principal } from '../../runtime/protocol/principal.ts';
import type { Body } from './body.ts';
import type { Admit, Edge } from './gateway-part.ts';
import type { EdgeCall } from './edge-call.ts';

/** The parts of an `Edge` that a request's path needs. */
export type ExchangeEdge<Call extends EdgeCall = EdgeCall> = Pick<Edge<Call>, EdgeMember>;
type EdgeMember = 'closing' | 'baseUrl' | 'addressOf' | 'read' | 'admit' | 'fault';

/**
 * How one protocol takes one request. `exchangeWith` calls its members, in this order.
 *
 * - `check`        throws what refuses the request before its body is read.
 * - `decodesFirst` what is no request of the protocol is refused before anybody asks who calls. @default false
 * - `admit`        who may come in. @default that of the edge
 * - `permit`       throws what the protocol refuses of whoever was let in.
 * - `decode`       what the body says.
 * - `handle`       performs it, and encodes the answer.
 * - `refuse`       encodes what any of these threw.
 */
export interface RequestHandler<Said, Answered> {
  readonly decodesFirst?: boolean;
  readonly admit?: Admit | undefined;
  check?(): void;
  permit?(principal: Principal): void;
  decode(body: Body): Said | Promise<Said>;
  handle(said: Said, exchange: Exchange): Promise<Answered>;
  refuse(error: unknown): Answered;
}

/**
 * The one path of a request, in every protocol: its body is read within the limits, its caller is let in, it is decoded,
 * performed and answered. Whatever waits for its sake ends when its caller has gone, the gateway is to end, or its answer is
 * over.
 */
export async function exchangeWith<Call extends EdgeCall, Said, Answered>(
  edge: ExchangeEdge<Call>,
  call: Call,
  handler: RequestHandler<Said, Answered>,
): Promise<Answered> {
  let exchange: Exchange | undefined;
  try {
    handler.check?.();
    const body = await edge.read(call);
    const early = handler.decodesFirst === true ? { said: await handler.decode(body) } : undefined;
    const request = new ReadRequest(call, edge.addressOf(call), body);
    const admit = handler.admit ?? edge.admit;
    const principal = await admit(request);
    handler.permit?.(principal);
    exchange = new Exchange({ edge: edge as ExchangeEdge, call, request, body, principal, admit });
    const said = early === undefined ? await handler.decode(body) : early.said;
    const answered = await handler.handle(said, exchange);
    if (!exchange.goesOn) exchange.close();
    return answered;
  } catch (error) {
    exchange?.close();
    return handler.refuse(error);
  }
}

/** The request as admission sees it. Its bytes are joined only when they are read. */
class ReadRequest implements EdgeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: EdgeRequest['headers'];
  readonly address: string | undefined;
  readonly #body: Body;

  constructor({ method, url, headers }: EdgeCall, address: string | undefined, body: Body) {
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.address = address;
    this.#body = body;
  }

  get body(): Uint8Array {
    return this.#body.bytes;
  }
}

interface ExchangeDeps {
  readonly edge: ExchangeEdge;
  readonly call: EdgeCall;
  readonly request: EdgeRequest;
  readonly body: Body;
  readonly principal: Principal;
  readonly admit: Admit;
}

/** One request, from when it is let in until its answer is over. */
export class Exchange {
  readonly principal: Principal;
  readonly body: Body;
  readonly #deps: ExchangeDeps;
  #scope: Scope | undefined;
  #goesOn = false;

  constructor(deps: ExchangeDeps) {
    this.#deps = deps;
    this.principal = deps.principal;
    this.body = deps.body;
  }

  /** Aborts when the caller has gone, the gateway is to end, or the answer is over. */
  get signal(): AbortSignal {
    const { call, edge } = this.#deps;
    this.#scope ??= abortsWith(call.signal, edge.closing);
    return this.#scope.signal;
  }

  /** Under which the caller reaches the gateway, without a slash at its end. */
  get baseUrl(): string {
    const { call, edge } = this.#deps;
    return edge.baseUrl(call);
  }

  /** Whether the answer is a stream, which ends later. */
  get goesOn(): boolean {
    return this.#goesOn;
  }

  /** Keeps the exchange open after its answer has begun, until the returned function is called. */
  goOn(): () => void {
    this.#goesOn = true;
    return this.close;
  }

  /** Asks whether its caller may have something more, as for a request of its own. Rejects as `admit` of the edge does. */
  async admitAgain(): Promise<void> {
    const { admit, request, principal } = this.#deps;
    await admit(request, principal);
  }

  /** Ends whatever still waits for the sake of this exchange. */
  readonly close = (): void => {
    this.#scope ??= ENDED;
    this.#scope.close();
  };
}

/** One error for all: making one for each request would cost as much as the rest. */
const OVER = new Error('The exchange is over');

interface Scope {
  readonly signal: AbortSignal;
  readonly close: () => void;
}

const ENDED: Scope = { signal: AbortSignal.abort(OVER), close: () => undefined };

/** A signal that aborts with the first of these, or when it is closed, which lets go of them. */
export function abortsWith(...signals: readonly AbortSignal[]): Scope {
  const controller = new AbortController();
  const abort = (): void => controller.abort(OVER);
  for (const signal of signals) {
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  }
  const close = (): void => {
    for (const signal of signals) signal.removeEventListener('abort', abort);
    abort();
  };
  return { signal: controller.signal, close };
}
