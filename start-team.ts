import { agentAttendants } from './actors/attendants.ts';
import { hostNegotiator } from './actors/negotiator/desk-negotiator.ts';
import { approvalAttendant } from './actors/tasks/approvals.ts';
import { hostSwarms } from './actors/swarm/desk-swarms.ts';
import { loadPolicies } from './policies/index.ts';
import { systemSeams } from './runtime/protocol/system-seams.ts';
import { createSystem as createSystemFrom, HOST_ID } from './runtime/system/create-system.ts';
import { withWorkBeforeStop } from './runtime/system/stop-work.ts';
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
      attendants: [...agentAttendants, approvalAttendant],
    },
    rest,
  );
  // What former processes have left is there, and goes on.
  const desk = rest.journal === undefined ? undefined : await system.desk();
  const negotiator = hostNegotiator(system, { agentId: HOST_ID, seams, desk });
  const swarms = hostSwarms(system, { agentId: HOST_ID, seams, negotiator, desk });
  const team: Team = Object.assign(withWorkBeforeStop(system), { negotiator, swarms, serve });
  return team;

  async function serve(options?: ServeOptions): Promise<Serving> {
    const gateway = await loadGateway();
    return gateway.serve(team, options);
  }
}

/** Found by its URL: whoever serves nothing loads no server, and need not have one installed. */
const loadGateway = (): Promise<typeof import('./gateway.ts')> =>
  import(new URL('./gateway.ts', import.meta.url).href);
