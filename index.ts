import { negotiationAttendant } from './actors/negotiator/attendant.ts';
import { hostNegotiator } from './actors/negotiator/desk-negotiator.ts';
import type { TaskNegotiator } from './actors/negotiator/task-negotiator.ts';
import { documentAttendant } from './actors/shared-state/attendant.ts';
import { swarmAttendant } from './actors/swarm/attendant.ts';
import { hostSwarms } from './actors/swarm/desk-swarms.ts';
import type { Swarms } from './actors/swarm/swarms.ts';
import { loadPolicies, type PolicyOptions } from './policies/index.ts';
import { systemSeams } from './runtime/protocol/system-seams.ts';
import { createSystem as createSystemFrom, HOST_ID } from './runtime/system/create-system.ts';
import type { System } from './runtime/system/system.ts';
import { requireOptions, type SystemOptions } from './runtime/system/system-options.ts';
import { NodeSpawner } from './runtime/threads/node-spawner.ts';

export { type Decision, decline, takeOn } from './actors/negotiator/decision.ts';
export { considers, negotiatorOf, whenAssigned, whenRefused } from './actors/negotiator/handlers.ts';
export type { NewTaskProposal, ProposeOptions } from './actors/negotiator/new-proposal.ts';
export type { TaskNegotiator } from './actors/negotiator/task-negotiator.ts';
export type { ProposalStatus, TaskProposal } from './actors/negotiator/task-proposal.ts';
export { swarmsOf } from './actors/swarm/desk-swarms.ts';
export type { SwarmOutcome } from './actors/swarm/swarm-outcome.ts';
export type { SwarmSession } from './actors/swarm/swarm-session.ts';
export type { CreateSwarmOptions, Swarms } from './actors/swarm/swarms.ts';
export { DEFAULT_TIER_ASSIGNMENTS } from './actors/planets/index.ts';
export { DEFAULT_TIER_RULES, defaultPolicies, loadPolicies, type PolicyOptions } from './policies/index.ts';
export * from './runtime/public.ts';
export { LocalNetwork, type LocalNetworkOptions } from './transports/local.ts';
export { MessagePortTransport, type MessagePortTransportOptions } from './transports/message-port.ts';

/** What a system can be started with; `policies` left out are the defaults, on. */
export interface StartOptions extends SystemOptions {
  readonly policies?: PolicyOptions;
}

/** A running team, with what its embedder has of it: `negotiator` and `swarms` act as `system/host`. */
export interface Team extends System {
  readonly negotiator: TaskNegotiator;
  readonly swarms: Swarms;
}

/**
 * Starts a team with the defaults: real threads, the real clock, the default policies. Needs no server and no file.
 *
 * Fails with INVALID_OPTIONS naming field and value, or MODULE_INVALID naming the module; then nothing of it is left.
 */
export async function startSystem(options: StartOptions = {}): Promise<Team> {
  const { policies = {}, ...rest } = requireOptions(options);
  const seams = systemSeams();
  const system = await createSystemFrom(
    {
      seams,
      spawner: new NodeSpawner(new URL('./worker.ts', import.meta.url)),
      policies: await loadPolicies(policies),
      workerOptions: policies,
      attendants: [negotiationAttendant, swarmAttendant, documentAttendant],
    },
    rest,
  );
  // What former processes have left is there, and goes on.
  const desk = rest.journal === undefined ? undefined : await system.desk();
  const negotiator = hostNegotiator(system, { agentId: HOST_ID, seams, desk });
  const swarms = hostSwarms(system, { agentId: HOST_ID, seams, negotiator, desk });
  return Object.assign(system, { negotiator, swarms });
}
