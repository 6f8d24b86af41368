import { agentInterceptors } from './actors/interceptors.ts';
import { withCooperation } from './actors/cooperation.ts';
import { approvalInterceptor } from './actors/tasks/approvals.ts';
import { loadPolicies } from './policies/index.ts';
import { systemSeams } from './runtime/protocol/system-seams.ts';
import { createSystem as createSystemFrom } from './runtime/system/create-system.ts';
import type { SystemDeps } from './runtime/system/system-deps.ts';
import { requireOptions } from './runtime/system/system-options.ts';
import { invalidOptions } from './runtime/protocol/errors.ts';
import { isInstalled } from './runtime/protocol/optional-packages.ts';
import type { Seams } from './runtime/protocol/seams.ts';
import type { ServeOptions, Serving } from './gateway.ts';
import type { WorkerOptions } from './worker-options.ts';
import type { StartOptions, Team } from './index.ts';

/** What `startSystem` does, which only whoever calls it loads. */
export async function startTeam(
  options: StartOptions,
  threads: Pick<SystemDeps, 'spawner' | 'control'>,
): Promise<Team> {
  const { policies = {}, tracing, ...rest } = requireOptions(options);
  const seams = await tracedSeams(tracing);
  const system = await createSystemFrom(
    {
      seams,
      ...threads,
      policies: await loadPolicies(policies),
      workerOptions: { policies, tracing: hrefOf(tracing) } satisfies WorkerOptions,
      interceptors: [...agentInterceptors, approvalInterceptor],
    },
    rest,
  );
  const isKept = rest.journal !== undefined;
  const cooperating = await withCooperation(system, { seams, isKept });
  const team: Team = {
    ...cooperating,
    serve: async (options?: ServeOptions): Promise<Serving> => {
      const gateway = await loadGateway();
      return gateway.serve(team, options);
    },
  };
  return team;
}

/** Under this the API of OpenTelemetry, version 1, keeps what a program has registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Whether this thread has registered a provider of spans, found out without loading anything. */
function hasProvider(): boolean {
  const registered = (globalThis as Record<symbol, { readonly trace?: unknown } | undefined>)[REGISTERED];
  return registered?.trace !== undefined;
}

const hrefOf = (tracing: StartOptions['tracing']): string | undefined =>
  tracing instanceof URL ? tracing.href : undefined;

/** The seams of this thread, with who traces, if somebody does. */
async function tracedSeams(tracing: StartOptions['tracing']): Promise<Seams> {
  const seams = { ...systemSeams(), tracer: undefined };
  if (tracing !== undefined && tracing !== false && !(tracing instanceof URL))
    throw invalidOptions('tracing', tracing, 'the URL of a module, or false');
  const isRegistered = hasProvider() && isInstalled('@opentelemetry/api');
  if (tracing === false || (tracing === undefined && !isRegistered)) return seams;
  const { loadTracer } = await loadTracing();
  return { ...seams, tracer: await loadTracer(hrefOf(tracing)) };
}

/** Found by its URL: who traces nothing loads nothing for it, and need not have the API installed. */
const loadTracing = (): Promise<typeof import('./runtime/observe/open-telemetry.ts')> =>
  import(new URL('./runtime/observe/open-telemetry.ts', import.meta.url).href);

/** Found by its URL: whoever serves nothing loads no server, and need not have one installed. */
const loadGateway = (): Promise<typeof import('./gateway.ts')> =>
  import(new URL('./gateway.ts', import.meta.url).href);
