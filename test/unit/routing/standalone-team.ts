import { defaultPolicies, type PolicyOptions } from '../../../policies/index.ts';
import { A2AObservability } from '../../../runtime/observe/observability.ts';
import type { AgentCard } from '../../../runtime/protocol/agent-card.ts';
import type { A2AEnvelope } from '../../../runtime/protocol/envelope.ts';
import { AgentRegistry } from '../../../runtime/routing/agent-registry.ts';
import { A2ARouter, type A2ARouterOptions } from '../../../runtime/routing/router.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

/** A valid card of a local agent; `fields` say what matters to the test. */
export const cardOf = (id: string, fields: Partial<AgentCard> = {}): AgentCard => ({
  id,
  name: id.toUpperCase(),
  version: '1.0.0',
  description: '',
  tier: 3,
  protocols: ['a2a/1.0'],
  endpoints: [{ transport: 'local' }],
  capabilities: [],
  revision: 0,
  origin: 'local',
  lastSeenAt: 0,
  ...fields,
});

/** A capability as a card lists it. */
export const offers = (...ids: string[]): Pick<AgentCard, 'capabilities'> => ({
  capabilities: ids.map((id) => ({ id, name: id, description: '', inputSchema: {}, outputSchema: {} })),
});

let count = 0;

/** A valid envelope; `fields` say what matters to the test. */
export const envelopeOf = (
  fields: Partial<A2AEnvelope> & Pick<A2AEnvelope, 'sender' | 'recipient'>,
): A2AEnvelope => ({
  id: `envelope-${++count}`,
  schemaVersion: 1,
  type: 'notification',
  timestamp: 1_000,
  payload: null,
  ...fields,
});

/** A router over these cards, whose agents keep what they receive. */
export function standaloneTeam(
  cards: readonly AgentCard[],
  { policies, ...options }: { policies?: PolicyOptions } & Partial<Omit<A2ARouterOptions, 'policies'>> = {},
) {
  const clock = new FakeClock();
  const observability = new A2AObservability({ capacity: 10_000, securityCapacity: 10_000 });
  const registry = new AgentRegistry(policies?.sandbox === undefined ? {} : { sandbox: policies.sandbox });
  const router = new A2ARouter({
    registry,
    policies: defaultPolicies(policies),
    seams: { clock },
    observability,
    ...options,
  });
  const inboxes = new Map<string, A2AEnvelope[]>();
  const receive = (id: string): A2AEnvelope[] => {
    const inbox: A2AEnvelope[] = [];
    inboxes.set(id, inbox);
    router.onReceive(id, (envelope) => void inbox.push(envelope));
    return inbox;
  };
  for (const card of cards) {
    registry.register(card);
    receive(card.id);
  }
  const reached = (envelopeId: string): string[] =>
    [...inboxes].filter(([, inbox]) => inbox.some(({ id }) => id === envelopeId)).map(([id]) => id);
  return { clock, registry, router, observability, inboxes, receive, reached };
}
