import { TaskNegotiator } from '../../../../actors/negotiator/index.ts';
import {
  type AssignmentNote,
  assignmentIn,
  routerPort,
  SwarmCoordinator,
  type SwarmStore,
} from '../../../../actors/swarm/index.ts';
import type { PolicyOptions } from '../../../../policies/index.ts';
import type { AgentCard } from '../../../../runtime/protocol/agent-card.ts';
import type { A2AEnvelope } from '../../../../runtime/protocol/envelope.ts';
import { EnvelopeFactory } from '../../../../runtime/protocol/envelope-factory.ts';
import { standaloneTeam } from '../../routing/standalone-team.ts';

/** An assignment that has come to an agent, and what the agent can do about it. */
export interface Assigned extends AssignmentNote {
  readonly agentId: string;
  readonly envelope: A2AEnvelope;
  /** Answers by an envelope, as an agent does that knows nothing of coordinators. */
  answer(result: unknown): Promise<unknown>;
  fail(message: string): Promise<unknown>;
  progress(partial?: unknown): Promise<unknown>;
}

/** One member of a team: its negotiator and its coordinator. */
export interface Member {
  readonly id: string;
  readonly negotiator: TaskNegotiator;
  readonly swarms: SwarmCoordinator;
}

/** Agents over one router, each with a negotiator and a coordinator; what is assigned to them waits in `assigned`. */
export function swarmTeam(
  cards: readonly AgentCard[],
  {
    policies,
    owner = 'system/host',
    store,
    onAssigned,
  }: {
    policies?: PolicyOptions;
    owner?: string;
    store?: SwarmStore;
    onAssigned?: (assigned: Assigned) => void;
  } = {},
) {
  const team = standaloneTeam(cards, policies === undefined ? {} : { policies });
  const { clock, registry, router, inboxes } = team;
  let ids = 0;
  const seams = { clock, newId: () => `id-${++ids}` };
  const factory = new EnvelopeFactory({ seams, cardOf: (id) => registry.getById(id) });
  const assigned: Assigned[] = [];

  const join = (agentId: string): Member => {
    const deps = { agentId, router, registry, seams };
    const port = routerPort(deps);
    const negotiator = new TaskNegotiator({ port });
    const kept = store === undefined || agentId !== owner ? {} : { store };
    const swarms = new SwarmCoordinator({ port, negotiator, ...kept });
    router.onReceive(agentId, (envelope) => take(agentId, envelope));
    return { id: agentId, negotiator, swarms };
  };

  const take = (agentId: string, envelope: A2AEnvelope): void => {
    const note = assignmentIn(envelope);
    if (note === undefined) return;
    const reply = (type: 'response' | 'error' | 'notification', payload: unknown) =>
      router.send(factory.reply(envelope, { sender: agentId, type, payload }));
    const one: Assigned = {
      ...note,
      agentId,
      envelope,
      answer: (result) => reply('response', result),
      fail: (message) => reply('error', { code: 'REFUSED', message }),
      progress: (partial) => reply('notification', partial === undefined ? { fraction: 0.5 } : { partial }),
    };
    assigned.push(one);
    onAssigned?.(one);
  };

  const members = new Map(cards.map(({ id }) => [id, join(id)]));
  if (!members.has(owner)) members.set(owner, join(owner));
  const member = (id: string): Member => members.get(id) as Member;
  /** Everything of this type that anybody but the owner has got. */
  const received = (type: A2AEnvelope['type']): A2AEnvelope[] =>
    [...inboxes.values()].flat().filter((envelope) => envelope.type === type);
  return { ...team, member, assigned, received, owner: member(owner).swarms, factory };
}

/** Long enough for envelopes to go to and fro; no real time passes. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await Promise.resolve();
}
