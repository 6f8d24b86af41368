import { decline, takeOn } from '../../../../actors/negotiator/decision.ts';
import type { AgentPort } from '../../../../actors/agent-port/agent-port.ts';
import { routerPort } from '../../../../actors/agent-port/router-port.ts';
import { TaskNegotiator, type TaskNegotiatorOptions } from '../../../../actors/negotiator/task-negotiator.ts';
import type { NegotiationEvent } from '../../../../actors/negotiator/proposal-event.ts';
import type { NewTaskProposal } from '../../../../actors/negotiator/proposal.ts';
import type { PolicyOptions } from '../../../../policies/index.ts';
import type { AgentCard } from '../../../../runtime/protocol/agent-card.ts';
import type { A2AEnvelope } from '../../../../runtime/protocol/envelope.ts';
import { cardOf, envelopeOf, offers, standaloneTeam } from '../../routing/standalone-team.ts';

/** A proposal that asks for `work.do`; `fields` say what matters to the test. */
export const proposalOf = (fields: Partial<NewTaskProposal> = {}): NewTaskProposal => ({
  taskDescription: 'Do the work',
  requiredCapabilities: ['work.do'],
  estimatedComplexity: 'simple',
  deadlineMs: 1_000,
  ...fields,
});

/** An agent of tier 0 that can do the work; `fields` say what matters to the test. */
export const worker = (id: string, fields: Partial<AgentCard> = {}): AgentCard =>
  cardOf(id, { tier: 0, ...offers('work.do'), ...fields });

/** What a sender is told of what is lost. */
const LOST = { delivered: true, path: 'local', targetAgentId: '', latencyMs: 0, envelopeId: 'lost' } as const;

/** Agents around one router, each with a negotiator of its own. */
export function negotiatingTeam(cards: readonly AgentCard[], policies: PolicyOptions = {}) {
  const team = standaloneTeam(cards, { policies });
  const { clock, registry, router } = team;
  let ids = 0;
  const seams = { clock, newId: () => `id-${++ids}` };
  const events: NegotiationEvent[] = [];
  /** While it is set, what negotiators send is lost. */
  const line = { isCut: false };
  const lossy = (port: AgentPort): AgentPort => ({
    ...port,
    send: (message) => (line.isCut ? Promise.resolve(LOST) : port.send(message)),
  });
  const portOf = (agentId: string): AgentPort => lossy(routerPort({ agentId, router, registry, seams }));
  const negotiator = (agentId: string, options: Partial<TaskNegotiatorOptions> = {}): TaskNegotiator =>
    new TaskNegotiator({
      port: portOf(agentId),
      onEvent: (event) => events.push(event),
      ...options,
    });
  /** Sends an envelope that no negotiator made. */
  const say = (fields: Partial<A2AEnvelope> & Pick<A2AEnvelope, 'sender' | 'recipient'>) =>
    router.send(envelopeOf(fields));
  const inbox = (id: string, type?: A2AEnvelope['type']): A2AEnvelope[] =>
    (team.inboxes.get(id) ?? []).filter((envelope) => type === undefined || envelope.type === type);
  /** Lets everything that is on its way arrive. */
  const settle = () => clock.advanceAsync(0);
  return { ...team, seams, line, portOf, negotiator, events, say, inbox, settle };
}

/** An agent that proposes, and what others say to every proposal. */
export const sun = cardOf('sun', { tier: 0 });
export const willing = { decide: () => takeOn({ estimatedCompletionMs: 500 }) };
export const unwilling = (reason: string, alternative?: string) => ({
  decide: () => decline(alternative === undefined ? { reason } : { reason, alternative }),
});
/** Leaves everything that comes in undecided. */
export const silent = { decide: () => undefined };
