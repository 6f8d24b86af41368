import { unauthenticated } from '../runtime/protocol/edge-errors.ts';
import type { Clock } from '../runtime/protocol/seams.ts';
import type { Admit, GatewayPart, RouteContext } from './http/gateway-part.ts';
import { isOrreryError } from '../runtime/protocol/errors.ts';
import { processMetrics } from './http/process-metrics.ts';

/** An agent's status, as health needs it. */
export interface OperatedAgent {
  readonly id: string;
  readonly status: string;
}

/** What health needs of a system. `write` puts a record into its journal; absent without one. */
export interface OperatedSystem {
  roster(): Promise<readonly OperatedAgent[]>;
  metrics(): Promise<string>;
  write?(): Promise<void>;
}

/**
 * - `metrics` of the gateway, as Prometheus text.
 * - `readers` who may read what is counted, and what is wrong in detail.
 */
export interface OperatingOptions {
  readonly system: OperatedSystem;
  readonly metrics: () => Promise<string>;
  readonly readers: 'open' | 'admitted';
  readonly admit: Admit;
  readonly clock: Clock;
}

/** The routes for operators: `/healthz`, `/readyz` and `/metrics`. */
export function operatingParts(options: OperatingOptions): GatewayPart[] {
  const { system, metrics, readers, admit, clock } = options;
  const health = new Health({ clock, probes: probesOf(system) });
  const allow = async ({ method, url, headers }: Request): Promise<void> => {
    if (readers === 'open') return;
    const { kind } = await admit({ method, url, headers, body: new Uint8Array() });
    if (kind === 'anonymous') throw unauthenticated('what is counted is for those who prove who they are');
  };
  const mayReadWhat = (request: Request): Promise<boolean> =>
    allow(request).then(
      () => true,
      () => false,
    );
  return [
    healthPart({ troubles: () => health.troubles(), mayReadWhat }),
    metricsPart({
      text: async () => (await Promise.all([system.metrics(), metrics(), processMetrics()])).join(''),
      allow,
    }),
  ];
}

function probesOf(system: OperatedSystem): HealthProbe[] {
  const agents: HealthProbe = {
    kind: 'control-silent',
    look: async () => (await system.roster()).flatMap(troublesOf),
  };
  const journal: HealthProbe = {
    kind: 'journal-failing',
    look: async () => {
      await system.write?.();
      return [];
    },
  };
  return [agents, journal];
}

/** Trouble of one agent. Its reason is not told here, because that may be what it threw. */
const troublesOf = ({ id, status }: OperatedAgent): Trouble[] =>
  status === 'failed' || status === 'parked'
    ? [{ kind: `agent-${status}`, what: `${id} is ${status}: its event agent-${status} says why` }]
    : [];

/**
 * Something that keeps a system from doing all that it should.
 *
 * - `kind`  what it is, such as `agent-failed`.
 * - `what`  a sentence about this one, which says nothing that was thrown.
 * - `cause` what was thrown, for the operator alone.
 */
export interface Trouble {
  readonly kind: string;
  readonly what: string;
  readonly cause?: unknown;
}

/** After these the process cannot go on: it is to be started again. */
const FATAL: ReadonlySet<string> = new Set(['control-lost', 'stopped']);

export const isFatal = ({ kind }: Trouble): boolean => FATAL.has(kind);

/** Looks for trouble of one sort. What it rejects with is trouble too, of the kind `kind`. */
export interface HealthProbe {
  readonly kind: string;
  look(): Promise<readonly Trouble[]>;
}

/**
 * - `timeoutMs` how long a probe may look before that is trouble by itself. @default 2 seconds
 * - `freshMs`   how long an answer is good: whoever asks in a loop costs no more than that. @default 1 second
 */
interface HealthOptions {
  readonly clock: Pick<Clock, 'monotonicMs' | 'setTimer'>;
  readonly probes: readonly HealthProbe[];
  readonly timeoutMs?: number;
  readonly freshMs?: number;
}

/** What is wrong with a system now, as far as its probes see. */
export class Health {
  readonly #options: HealthOptions;
  #last: { readonly atMs: number; readonly troubles: Promise<readonly Trouble[]> } | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  troubles(): Promise<readonly Trouble[]> {
    const { clock, freshMs = 1_000 } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.#last === undefined || nowMs - this.#last.atMs >= freshMs)
      this.#last = { atMs: nowMs, troubles: this.#lookAll() };
    return this.#last.troubles;
  }

  async #lookAll(): Promise<readonly Trouble[]> {
    const found = await Promise.all(this.#options.probes.map((probe) => this.#look(probe)));
    return found.flat();
  }

  async #look(probe: HealthProbe): Promise<readonly Trouble[]> {
    const { clock, timeoutMs = 2_000 } = this.#options;
    const late = Promise.withResolvers<readonly Trouble[]>();
    const cancel = clock.setTimer(timeoutMs, () =>
      late.resolve([{ kind: probe.kind, what: `it did not answer within ${timeoutMs} ms` }]),
    );
    try {
      return await Promise.race([probe.look(), late.promise]);
    } catch (error) {
      return [{ kind: kindOf(error) ?? probe.kind, what: sentenceOf(error), cause: error }];
    } finally {
      cancel();
    }
  }
}

const kindOf = (error: unknown): string | undefined => {
  if (!isOrreryError(error)) return undefined;
  if (error.code === 'CONTROL_LOST') return 'control-lost';
  return error.code === 'SYSTEM_STOPPED' ? 'stopped' : undefined;
};

const sentenceOf = (error: unknown): string =>
  isOrreryError(error) ? `it failed with ${error.code}` : 'it failed';

/**
 * - `troubles`      what is wrong now.
 * - `mayReadWhat`   whether the request may see which agent; everybody may see what sort of trouble there is.
 */
interface HealthPartOptions {
  readonly troubles: () => Promise<readonly Trouble[]>;
  readonly mayReadWhat: (request: Request) => Promise<boolean>;
}

/**
 * `GET /healthz`: 200 while the process can go on, else 503: then it is to be started again. `GET /readyz`: 200 while all is
 * well, else 503 and what is not.
 */
const healthPart = ({ troubles, mayReadWhat }: HealthPartOptions): GatewayPart => ({
  name: 'health',
  routes: [
    { method: 'GET', path: '/healthz', serves: 'whether the process lives' },
    { method: 'GET', path: '/readyz', serves: 'whether all is well' },
  ],
  mount: (app, { closing, fault }) => {
    const answer = async ({ req, json }: RouteContext, found: readonly Trouble[]): Promise<Response> => {
      if (found.length === 0) return json({ status: 'ok' });
      for (const { cause } of found) if (cause !== undefined) fault(cause, req.raw);
      const kinds = [...new Set(found.map(({ kind }) => kind))].map((kind) => ({ kind }));
      const told = (await mayReadWhat(req.raw)) ? found.map(({ kind, what }) => ({ kind, what })) : kinds;
      return json({ status: 'degraded', troubles: told }, 503);
    };
    app.get('/healthz', async (context) => answer(context, (await troubles()).filter(isFatal)));
    app.get('/readyz', async (context) => {
      const draining: readonly Trouble[] = closing.aborted
        ? [{ kind: 'draining', what: 'the gateway closes' }]
        : [];
      return answer(context, [...draining, ...(await troubles())]);
    });
  },
});

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * - `text`  of the system and of the gateway.
 * - `allow` rejects when the request may not see it.
 */
interface MetricsPartOptions {
  readonly text: () => Promise<string>;
  readonly allow: (request: Request) => Promise<void>;
}

/** `GET /metrics`: what is measured, as Prometheus text. */
const metricsPart = ({ text, allow }: MetricsPartOptions): GatewayPart => ({
  name: 'metrics',
  routes: [{ method: 'GET', path: '/metrics', serves: 'what is counted, for Prometheus' }],
  mount: (app) => {
    app.get('/metrics', async ({ req, body }) => {
      await allow(req.raw);
      return body(await text(), 200, { 'content-type': CONTENT_TYPE });
    });
  },
});
