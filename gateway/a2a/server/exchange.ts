import type { EdgeRequest } from '../../../runtime/protocol/admission.ts';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { HeaderFields } from '../../http/answer.ts';
import { Asked } from '../../http/asked.ts';
import type { Body } from '../../http/body.ts';
import type { EdgeCall } from '../../http/edge-call.ts';
import type { Edge } from '../../http/gateway-part.ts';
import type { Dialect } from '../wire/dialect.ts';
import type { A2AExtension } from './extension.ts';
import type { Caller } from './caller.ts';
import { EXTENSION_HEADERS } from '../wire/headers.ts';

/** Reads the request and lets it in. Rejects as `read` and `admit` of the edge do. */
export async function openExchange(
  edge: Edge,
  call: EdgeCall,
  extensions: readonly A2AExtension[],
): Promise<Exchange> {
  const body = await edge.read(call);
  const { method, url, headers } = call;
  const asked = new Asked({ method, url, headers, address: edge.addressOf(call) }, body);
  const principal = await edge.admit(asked);
  return new Exchange({ edge, call, asked, body, principal, extensions });
}

interface ExchangeDeps {
  readonly edge: Edge;
  readonly call: EdgeCall;
  readonly asked: EdgeRequest;
  readonly body: Body;
  readonly principal: Principal;
  readonly extensions: readonly A2AExtension[];
}

/** One request, from when it is let in until its answer is over. */
export class Exchange {
  readonly principal: Principal;
  readonly body: Body;
  /** Headers of the answer that say which extensions are active, by names in lower case. */
  readonly echoed: Readonly<HeaderFields>;
  readonly #deps: ExchangeDeps;
  readonly #active: readonly string[];
  #scope: Scope | undefined;

  constructor(deps: ExchangeDeps) {
    const { call, body, principal, extensions } = deps;
    const { headers } = call;
    this.#deps = deps;
    this.principal = principal;
    this.body = body;
    const header = EXTENSION_HEADERS.find((name) => headers.has(name));
    this.#active = header === undefined ? [] : activeOf(extensions, urisOf(headers.get(header) ?? ''));
    this.echoed =
      header === undefined || this.#active.length === 0
        ? {}
        : { [header.toLowerCase()]: this.#active.join(', ') };
  }

  /** Aborts when the caller has gone, the gateway is to end, or the answer is over. */
  get signal(): AbortSignal {
    const { call, edge } = this.#deps;
    this.#scope ??= abortsWith(call.signal, edge.closing);
    return this.#scope.signal;
  }

  caller(agentId: string | undefined, { version }: Dialect): Caller {
    const { edge, call, principal } = this.#deps;
    const baseUrl = edge.baseUrl(call);
    return new ExchangeCaller(this, {
      principal,
      baseUrl,
      dialect: version,
      agentId,
      extensions: this.#active,
    });
  }

  /** Asks whether its caller may have something more, as for a request of its own. Rejects as `admit` of the edge does. */
  async admit(): Promise<void> {
    const { edge, asked, principal } = this.#deps;
    await edge.admit(asked, principal);
  }

  /** The answer is over: ends whatever still waits for its sake. */
  readonly close = (): void => {
    this.#scope ??= ENDED;
    this.#scope.close();
  };
}

/** A class, because an object that is made with an accessor of its own gets a shape of its own, which outlives it. */
class ExchangeCaller implements Caller {
  readonly principal: Principal;
  readonly baseUrl: string;
  readonly dialect: string;
  readonly agentId: string | undefined;
  readonly terms = {};
  readonly extensions: readonly string[];
  readonly #exchange: Exchange;

  constructor(
    exchange: Exchange,
    facts: Required<Pick<Caller, 'principal' | 'baseUrl' | 'dialect' | 'agentId' | 'extensions'>>,
  ) {
    this.#exchange = exchange;
    this.principal = facts.principal;
    this.baseUrl = facts.baseUrl;
    this.dialect = facts.dialect;
    this.agentId = facts.agentId;
    this.extensions = facts.extensions;
  }

  /** Most requests are over before anybody waits for anything. */
  get signal(): AbortSignal {
    return this.#exchange.signal;
  }
}

const activeOf = (extensions: readonly A2AExtension[], activated: readonly string[]): readonly string[] =>
  extensions.filter(({ uri }) => activated.includes(uri)).map(({ uri }) => uri);

export const urisOf = (header: string): readonly string[] =>
  header
    .split(',')
    .map((uri) => uri.trim())
    .filter((uri) => uri !== '');

/** One for all: an error that is made for each request costs as much as the rest of it. */
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
