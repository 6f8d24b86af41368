import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentCard } from '../../runtime/protocol/agent-card.ts';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import type { TierRule } from '../../runtime/protocol/routing-config.ts';
import { cardOf, envelopeOf, offers, standaloneTeam } from '../unit/routing/standalone-team.ts';
import { arbTeam } from './arbitraries/agent-card.ts';
import { CAPABILITY_IDS } from './arbitraries/capability-descriptor.ts';
import { arbA2AEnvelope, arbMessageType } from './arbitraries/envelope.ts';
import { arbTaskProposal } from './arbitraries/task-proposal.ts';
import { arbTier, arbTierPair, TIERS } from './arbitraries/tier-pair.ts';

/** The seed's table, written out again: who may write to whom. */
const SEED_REACH: Record<number, readonly number[]> = {
  0: [0, 1, 2, 3],
  1: [0, 1],
  2: [0, 1, 2],
  3: [0, 1, 2, 3],
};
const SEED_RULES = TIERS.map((sourceTier) => ({
  sourceTier,
  allowedTargetTiers: SEED_REACH[sourceTier] as TierRule['allowedTargetTiers'],
  requiresEscalationJustification: sourceTier >= 2,
}));

/** Local agents of one tier, so that no rule stands between them. */
const arbPeers = () =>
  arbTeam(
    { origin: fc.constant('local'), tier: fc.constant(3), sandboxId: fc.constant(undefined) },
    { minLength: 2, maxLength: 8 },
  );

const pick = (cards: readonly AgentCard[], index: number): AgentCard =>
  cards[index % cards.length] as AgentCard;

describe('Router (N-P13, N-P14, N-P15, N-P16, N-P17, N-4.1, N-4.2, N-4.3, N-4.5, N-4.6)', () => {
  it('Feature: a2a-mcp-protocols, Property 13: Direct message routing', async () => {
    await fc.assert(
      fc.asyncProperty(arbPeers(), arbA2AEnvelope(), fc.nat(), fc.nat(), async (cards, any, from, to) => {
        const { router, inboxes } = standaloneTeam(cards);
        const { metadata: _metadata, ...rest } = any;
        const recipient = pick(cards, to).id;
        const envelope = { ...rest, sender: pick(cards, from).id, recipient };
        const result = await router.send(envelope);
        expect(result).toMatchObject({ delivered: true, path: 'local', targetAgentId: recipient });
        for (const [id, inbox] of inboxes) expect(inbox).toEqual(id === recipient ? [envelope] : []);
      }),
      { numRuns: 150 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 14: Broadcast delivery', async () => {
    const arbAnybody = arbTeam({ origin: fc.constant('local') }, { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(arbAnybody, arbMessageType(), fc.boolean(), async (cards, type, toSender) => {
        const sun = cardOf('the-sun', { tier: 0 });
        const team = [...cards.filter(({ id }) => id !== sun.id), sun];
        const { router, reached } = standaloneTeam(team, { broadcastToSender: toSender });
        const envelope = envelopeOf({ sender: sun.id, recipient: '*', type });
        const result = await router.send(envelope);
        const everybody = team.map(({ id }) => id).filter((id) => toSender || id !== sun.id);
        expect(reached(envelope.id)).toEqual(everybody);
        expect(result).toMatchObject({
          delivered: true,
          path: 'broadcast',
          recipients: everybody,
          refused: [],
        });
      }),
      { numRuns: 150 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 15: Capability-based routing', async () => {
    const arbOffers = fc.subarray(CAPABILITY_IDS).map((ids) => offers(...ids).capabilities);
    const arbOffering = arbTeam({
      origin: fc.constant('local'),
      capabilities: arbOffers,
      sandboxId: fc.constant(undefined),
    });
    await fc.assert(
      fc.asyncProperty(
        arbOffering,
        fc.nat(),
        fc.constantFrom(...CAPABILITY_IDS),
        async (cards, from, wanted) => {
          const { router, reached } = standaloneTeam(cards);
          const sender = pick(cards, from);
          const envelope = envelopeOf({
            sender: sender.id,
            recipient: wanted,
            metadata: { tier: sender.tier, routingHint: 'capability', escalationJustification: 'needed' },
          });
          const result = await router.send(envelope);
          const offering = cards.filter(({ capabilities }) => capabilities.some(({ id }) => id === wanted));
          const firstPermitted = offering.find(({ tier }) => SEED_REACH[sender.tier]?.includes(tier));
          expect(reached(envelope.id)).toEqual(firstPermitted === undefined ? [] : [firstPermitted.id]);
          expect(result.delivered).toBe(firstPermitted !== undefined);
          if (firstPermitted !== undefined) expect(result.targetAgentId).toBe(firstPermitted.id);
          else
            expect(result.errorCode).toBe(offering.length === 0 ? 'CAPABILITY_NOT_FOUND' : 'TIER_VIOLATION');
        },
      ),
      { numRuns: 200 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 16: Tier-based routing enforcement', async () => {
    const arbRules = fc.tuple(...TIERS.map(() => fc.subarray([...TIERS]))).map((targets) =>
      TIERS.map((sourceTier, index) => ({
        sourceTier,
        allowedTargetTiers: targets[index] ?? [],
        requiresEscalationJustification: sourceTier >= 2,
      })),
    );
    const arbWhy = fc.option(fc.string(), { nil: undefined });
    const arbCase = fc.record({
      pair: arbTierPair(),
      type: arbMessageType(),
      rules: fc.oneof(fc.constant(undefined), arbRules),
      beside: arbWhy,
      proposal: arbTaskProposal(arbWhy),
    });
    await fc.assert(
      fc.asyncProperty(arbCase, async ({ pair, type, rules, beside, proposal }) => {
        const { source, target } = pair;
        const { router, reached, observability } = standaloneTeam(
          [cardOf('sender', { tier: source }), cardOf('recipient', { tier: target })],
          rules === undefined ? {} : { policies: { tiers: { rules } } },
        );
        const envelope = envelopeOf({
          sender: 'sender',
          recipient: 'recipient',
          type,
          payload: proposal,
          metadata: { tier: 0, ...(beside === undefined ? {} : { escalationJustification: beside }) },
        });
        const result = await router.send(envelope);

        const rule = (rules ?? SEED_RULES).find(({ sourceTier }) => sourceTier === source);
        const mayReach = rule?.allowedTargetTiers.includes(target) === true;
        const goesUp = source >= 2 && target <= 1;
        const why = beside ?? (type === 'task-proposal' ? proposal.escalationJustification : undefined);
        const isJustified = why !== undefined && /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(why);
        const mayPass = mayReach && (!goesUp || isJustified);

        expect(reached(envelope.id)).toEqual(mayPass ? ['recipient'] : []);
        expect(result.delivered).toBe(mayPass);
        const code = mayPass ? undefined : mayReach ? 'ESCALATION_REQUIRED' : 'TIER_VIOLATION';
        expect(result.errorCode).toBe(code);
        const refusals = observability.getRecentEvents().filter((event) => event.type === 'error');
        expect(refusals.map(({ errorCode, security }) => ({ errorCode, security }))).toEqual(
          code === undefined ? [] : [{ errorCode: code, security: true }],
        );
      }),
      { numRuns: 500 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 17: Routing event emission', async () => {
    const arbAddress = fc.constantFrom('near', 'far', 'nobody', 'up', '*', 'types.check', 'no.capability');
    const arbSends = fc.array(fc.tuple(arbAddress, arbMessageType(), arbTier()), { maxLength: 12 });
    const PATHS: Record<string, string> = { '*': 'broadcast', far: 'remote' };
    await fc.assert(
      fc.asyncProperty(arbSends, async (sends) => {
        const { router, registry, observability, receive } = standaloneTeam([
          cardOf('sender', { tier: 2 }),
          cardOf('near', { tier: 2, ...offers('types.check') }),
          cardOf('up', { tier: 1 }),
        ]);
        router.setTierConfig({
          rules: SEED_RULES.map((rule) => ({ ...rule, allowedTargetTiers: [0, 1, 2, 3] })),
        });
        registry.mergeRemote(cardOf('far'));
        receive('far');
        for (const [recipient, type, tier] of sends) {
          const hint = recipient.includes('.') ? { routingHint: 'capability' as const } : {};
          const envelope: A2AEnvelope = envelopeOf({
            sender: 'sender',
            recipient,
            type,
            metadata: { tier, ...hint },
          });
          const result = await router.send(envelope);
          const events = observability
            .getRecentEvents()
            .filter(({ envelopeId }) => envelopeId === envelope.id);
          const [decision, ...more] = events.filter(
            (event) => event.type === 'routing-decision' && event.latencyMs !== undefined,
          );
          expect(more).toEqual([]);
          expect(decision).toMatchObject({
            envelopeId: envelope.id,
            sender: 'sender',
            recipient,
            targetAgentId: recipient === 'types.check' ? 'near' : recipient,
            routingPath: PATHS[recipient] ?? 'local',
            latencyMs: result.latencyMs,
            success: result.delivered,
          });
          expect(decision?.latencyMs).toBeGreaterThanOrEqual(0);
          const isReachable = !['nobody', 'no.capability', 'up'].includes(recipient);
          expect(result.delivered).toBe(isReachable);
        }
      }),
      { numRuns: 100 },
    );
  });
});
