import type { Cooperating } from './actors/cooperation.ts';
import type { PolicyOptions } from './policies/index.ts';
import { leadToCaller } from './runtime/protocol/caller-stack.ts';
import type { SystemWithStopWork } from './runtime/system/stop-work.ts';
import type { SystemOptions } from './runtime/system/system-options.ts';
import { NodeSpawner } from './runtime/link/node-spawner.ts';
import { ownEntry } from './runtime/system/own-entry.ts';
import type { ServeOptions, Serving } from './gateway.ts';

export type { Cooperating, Cooperation } from './actors/cooperation.ts';
export { type Decision, decline, takeOn } from './actors/negotiator/decision.ts';
export { considers, negotiatorOf, whenAssigned, whenRefused } from './actors/negotiator/agent-negotiator.ts';
export type { NewTaskProposal, ProposeOptions } from './actors/negotiator/proposal.ts';
export type { TaskNegotiator } from './actors/negotiator/task-negotiator.ts';
export type { ProposalStatus, TaskProposal } from './actors/negotiator/proposal.ts';
export { swarmsOf } from './actors/swarm/agent-swarms.ts';
export type { SwarmOutcome } from './actors/swarm/swarm-outcome.ts';
export type { SwarmSession } from './actors/swarm/swarm-session.ts';
export type { CreateSwarmOptions, Swarms } from './actors/swarm/swarms.ts';
export { DEFAULT_TIER_ASSIGNMENTS } from './actors/planets/index.ts';
export { DEFAULT_TIER_RULES, defaultPolicies, loadPolicies, type PolicyOptions } from './policies/index.ts';
export * from './runtime/public.ts';
export { LocalNetwork, type LocalNetworkOptions } from './transports/local/local-network.ts';
export {
  MessagePortTransport,
  type MessagePortTransportOptions,
} from './transports/message-port/message-port-transport.ts';

/**
 * What a system can be started with.
 *
 * - `policies` @default the defaults, on
 * - `tracing`  a module that registers a provider of spans with `@opentelemetry/api`: every thread of the system loads it.
 *              `false`: nobody traces. @default this thread traces, if it has registered one by now
 */
export interface StartOptions extends SystemOptions {
  readonly policies?: PolicyOptions;
  readonly tracing?: URL | false;
}

/** A running team: what its embedder has others do, it has them do as `system/host`, and its loop as `system/loop`. */
export interface Team extends SystemWithStopWork, Cooperating {
  readonly loop: Cooperating['loop'];
  /**
   * Serves the team over HTTP, until what it resolves to is closed or the system stops; see `orrery/gateway`.
   *
   * Rejects with INVALID_OPTIONS naming field and value, and with PEERS_MISSING naming the packages that it needs.
   */
  serve(options?: ServeOptions): Promise<Serving>;
}

/**
 * Starts a team with the defaults: real threads, the real clock, the default policies. Needs no server and no file.
 *
 * Fails with INVALID_OPTIONS naming field and value, or MODULE_INVALID naming the module; then nothing of it is left.
 */
export async function startSystem(options: StartOptions = {}): Promise<Team> {
  const spawner = new NodeSpawner(ownEntry(() => new URL('./worker.ts', import.meta.url)));
  // It loads what it needs while this thread does.
  const control = spawner.spawn('orrery-control', { role: 'spare-control' }, []);
  try {
    // Agents import this file too, in every thread and process, and start nothing.
    const { startTeam } = await import('./start-team.ts');
    return await startTeam(options, { spawner, control });
  } catch (error) {
    await control.terminate();
    throw leadToCaller(error, startSystem);
  }
}
