import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { A2A_MESSAGE_TYPES } from '../../runtime/protocol/envelope.ts';
import { cardOf, envelopeOf, standaloneTeam } from '../unit/routing/standalone-team.ts';
import { arbMessageType } from './arbitraries/envelope.ts';
import { arbTierPair, TIERS } from './arbitraries/tier-pair.ts';

const BY_TIER = TIERS.map((tier) => cardOf(`tier-${tier}`, { tier }));
const ANY = { allowedTargetTiers: TIERS, requiresEscalationJustification: false };
const FREE = { rules: TIERS.map((sourceTier) => ({ ...ANY, sourceTier })) };

describe('Observability (N-P31, N-P32, N-11.4, N-12.1, N-12.4)', () => {
  it('Feature: a2a-mcp-protocols, Property 31: Cross-tier audit logging', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbTierPair(),
        arbMessageType(),
        fc.boolean(),
        async ({ source, target }, type, isFree) => {
          const { router, observability } = standaloneTeam(
            BY_TIER,
            isFree ? { policies: { tiers: FREE } } : {},
          );
          const audited = (envelopeId: string) =>
            observability
              .getRecentEvents()
              .filter(
                (event) =>
                  event.envelopeId === envelopeId && event.security === true && event.success !== false,
              )
              .map(({ sourceTier, targetTier, messageType, targetAgentId }) => ({
                sourceTier,
                targetTier,
                messageType,
                targetAgentId,
              }));
          const metadata = { tier: 3 as const, escalationJustification: 'needed' };

          const direct = envelopeOf({
            sender: `tier-${source}`,
            recipient: `tier-${target}`,
            type,
            metadata,
          });
          const { delivered } = await router.send(direct);
          const crossing = {
            sourceTier: source,
            targetTier: target,
            messageType: type,
            targetAgentId: `tier-${target}`,
          };
          expect(audited(direct.id)).toEqual(delivered && source !== target ? [crossing] : []);

          const broadcast = envelopeOf({ sender: `tier-${source}`, recipient: '*', type, metadata });
          const { recipients = [] } = await router.send(broadcast);
          const others = TIERS.filter((tier) => tier !== source && recipients.includes(`tier-${tier}`));
          expect(audited(broadcast.id)).toEqual(
            others.map((tier) => ({ ...crossing, targetTier: tier, targetAgentId: `tier-${tier}` })),
          );
          if (isFree) expect(recipients).toHaveLength(TIERS.length);

          const refusals = observability.getRecentEvents().filter((event) => event.type === 'error');
          for (const refusal of refusals) {
            expect(refusal).toMatchObject({ sourceTier: source, messageType: type, security: true });
            expect(refusal.targetTier).toBeTypeOf('number');
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 32: A2A message metrics accuracy', async () => {
    const arbRecipient = fc.constantFrom('quick', 'angry', 'silent', 'nobody', '*');
    const arbSends = fc.array(fc.tuple(arbRecipient, arbMessageType()), { maxLength: 30, size: 'max' });
    /** What each address adds: envelopes sent, recipients that took it, and errors. */
    const EFFECT: Record<string, readonly [sent: number, received: number, errors: number]> = {
      quick: [1, 1, 0],
      angry: [0, 0, 1],
      silent: [0, 0, 1],
      nobody: [0, 0, 1],
      '*': [1, 2, 2],
    };
    await fc.assert(
      fc.asyncProperty(arbSends, async (sends) => {
        const { router, registry, observability } = standaloneTeam([cardOf('sender'), cardOf('quick')]);
        registry.register(cardOf('angry'));
        router.onReceive('angry', () => {
          throw new Error('not today');
        });
        registry.register(cardOf('silent'));
        const byType = Object.fromEntries(A2A_MESSAGE_TYPES.map((type) => [type, 0]));
        let [sent, received, errors] = [0, 0, 0];
        for (const [recipient, type] of sends) {
          await router.send(envelopeOf({ sender: 'sender', recipient, type }));
          const [more, taken, failed] = EFFECT[recipient] as (typeof EFFECT)[string];
          byType[type] = (byType[type] ?? 0) + more;
          sent += more;
          received += taken;
          errors += failed;
        }
        expect(observability.getMetrics()).toMatchObject({
          totalMessagesSent: sent,
          totalMessagesReceived: received,
          messagesByType: byType,
          errorCount: errors,
        });
        const events = observability.getRecentEvents();
        expect(events.filter(({ type }) => type === 'message-sent')).toHaveLength(sent);
        expect(events.filter(({ type }) => type === 'message-received')).toHaveLength(received);
        observability.resetMetrics();
        expect(observability.getMetrics()).toMatchObject({ totalMessagesSent: 0, totalMessagesReceived: 0 });
      }),
      { numRuns: 150 },
    );
  });
});
