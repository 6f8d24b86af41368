import { agentInterceptors } from './actors/interceptors.ts';
import { withCooperation } from './actors/cooperation.ts';
import { approvalInterceptor } from './actors/tasks/approvals.ts';
import { loadPolicies } from './policies/index.ts';
import { systemSeams } from './runtime/protocol/system-seams.ts';
import { createSystem as createSystemFrom } from './runtime/system/create-system.ts';
import type { SystemDeps } from './runtime/system/system-deps.ts';
import { requireOptions } from './runtime/system/system-options.ts';
import type { ServeOptions, Serving } from './gateway.ts';
import type { StartOptions, Team } from './index.ts';

/** What `startSystem` does, which only whoever calls it loads. */
export async function startTeam(
  options: StartOptions,
  threads: Pick<SystemDeps, 'spawner' | 'control'>,
): Promise<Team> {
  const { policies = {}, ...rest } = requireOptions(options);
  const seams = systemSeams();
  const system = await createSystemFrom(
    {
      seams,
      ...threads,
      policies: await loadPolicies(policies),
      workerOptions: policies,
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

/** Found by its URL: whoever serves nothing loads no server, and need not have one installed. */
const loadGateway = (): Promise<typeof import('./gateway.ts')> =>
  import(new URL('./gateway.ts', import.meta.url).href);
