import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentCard } from '../../runtime/protocol/agent-card.ts';
import type { SandboxRoutingConfig } from '../../runtime/protocol/routing-config.ts';
import { AgentRegistry } from '../../runtime/routing/agent-registry.ts';
import { cardOf, envelopeOf, standaloneTeam } from '../unit/routing/standalone-team.ts';
import { arbMessageType } from './arbitraries/envelope.ts';
import { arbSandboxConfig, arbSandboxId } from './arbitraries/sandbox-config.ts';

const IDS = ['a', 'b', 'c', 'd', 'e'];

/** Agents of tier 0, whom no tier rule holds back, in any sandboxes, under any configuration. */
const arbSandboxes = () =>
  fc.record({
    cards: fc.tuple(...IDS.map(() => arbSandboxId())).map((boxes) =>
      IDS.map((id, index) => {
        const sandboxId = boxes[index];
        return cardOf(id, { tier: 0, ...(sandboxId === undefined ? {} : { sandboxId }) });
      }),
    ),
    config: arbSandboxConfig(IDS),
    type: arbMessageType(),
  });

/** The rule, told from the requirement: same sandbox, or on the list of all, or on the list of one's own sandbox. */
function mayReach(
  from: AgentCard,
  to: AgentCard,
  { enforced, crossSandboxAllowList, allow }: SandboxRoutingConfig,
) {
  if (!enforced || from.sandboxId === undefined) return true;
  const own = Object.entries(allow ?? {}).find(([sandboxId]) => sandboxId === from.sandboxId)?.[1] ?? [];
  return from.sandboxId === to.sandboxId || crossSandboxAllowList.includes(to.id) || own.includes(to.id);
}

describe('Sandboxes (N-P29, N-P30, N-10.1, N-10.2, N-10.3, N-10.4, N-D10)', () => {
  it('Feature: a2a-mcp-protocols, Property 29: Sandbox routing enforcement', async () => {
    await fc.assert(
      fc.asyncProperty(arbSandboxes(), async ({ cards, config, type }) => {
        const { router, reached, observability } = standaloneTeam(cards, { policies: { sandbox: config } });
        for (const from of cards) {
          for (const to of cards) {
            const claim = to.sandboxId === undefined ? {} : { sandboxId: to.sandboxId };
            const metadata = { tier: 0 as const, ...claim };
            const envelope = envelopeOf({ sender: from.id, recipient: to.id, type, metadata });
            const result = await router.send(envelope);
            const mayPass = mayReach(from, to, config);
            expect(reached(envelope.id)).toEqual(mayPass ? [to.id] : []);
            expect(result.delivered).toBe(mayPass);
            expect(result.errorCode).toBe(mayPass ? undefined : 'SANDBOX_VIOLATION');
            const security = observability
              .getRecentEvents()
              .filter((event) => event.envelopeId === envelope.id && event.security === true);
            expect(security.map(({ errorCode, targetAgentId }) => ({ errorCode, targetAgentId }))).toEqual(
              mayPass ? [] : [{ errorCode: 'SANDBOX_VIOLATION', targetAgentId: to.id }],
            );
          }
        }
        const [from] = cards as [AgentCard];
        const broadcast = envelopeOf({ sender: from.id, recipient: '*', type });
        const { recipients, refused } = await router.send(broadcast);
        const permitted = cards.filter((to) => mayReach(from, to, config)).map(({ id }) => id);
        expect(recipients).toEqual(permitted);
        expect(refused?.map(({ agentId }) => agentId)).toEqual(IDS.filter((id) => !permitted.includes(id)));
      }),
      { numRuns: 150 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 30: Sandbox discovery filtering', () => {
    fc.assert(
      fc.property(arbSandboxes(), ({ cards, config }) => {
        const registry = new AgentRegistry({ sandbox: config });
        for (const card of cards) registry.register(card);
        for (const reader of cards) {
          const seen = cards.filter((card) => mayReach(reader, card, config));
          const view = registry.viewFor(reader.id);
          expect(view.listAll()).toStrictEqual(seen);
          expect(view.getLocalCards()).toStrictEqual(seen);
          expect(view.findByTier(0)).toStrictEqual(seen);
          for (const capability of new Set(
            cards.flatMap(({ capabilities }) => capabilities.map(({ id }) => id)),
          ))
            expect(view.findByCapability(capability)).toStrictEqual(
              seen.filter(({ capabilities }) => capabilities.some(({ id }) => id === capability)),
            );
          expect(view.getRemoteCards()).toStrictEqual([]);
          for (const card of cards)
            expect(view.getById(card.id)).toEqual(seen.includes(card) ? card : undefined);
        }
        expect(registry.listAll()).toStrictEqual(cards);
      }),
      { numRuns: 200 },
    );
  });
});
