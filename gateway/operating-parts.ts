import { unauthenticated } from '../runtime/protocol/edge-errors.ts';
import type { Clock } from '../runtime/protocol/seams.ts';
import type { Admit, GatewayPart } from './http/gateway-part.ts';
import { Health, type HealthProbe, type Trouble } from './http/health.ts';
import { healthPart } from './http/health-part.ts';
import { metricsPart } from './http/metrics-part.ts';

/** How an agent stands, as far as it says whether all is well. */
export interface AgentStanding {
  readonly id: string;
  readonly status: string;
}

/** What is asked of a system. `write`: keeps something in its journal; left out where it has none. */
export interface OperatedSystem {
  roster(): Promise<readonly AgentStanding[]>;
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

/** What whoever runs a system wants to know of it: `/healthz`, `/readyz` and `/metrics`. */
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
    metricsPart({ text: async () => `${await system.metrics()}${await metrics()}`, allow }),
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

/** Why an agent failed may be what it threw, which is for events and the roster. */
const troublesOf = ({ id, status }: AgentStanding): Trouble[] =>
  status === 'failed' || status === 'parked'
    ? [{ kind: `agent-${status}`, what: `${id} is ${status}: its event agent-${status} says why` }]
    : [];
