import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentCard } from '../../runtime/protocol/agent-card.ts';
import { parseAgentCard } from '../../runtime/protocol/agent-card.ts';
import { isOrreryError } from '../../runtime/protocol/errors.ts';
import { AgentRegistry } from '../../runtime/routing/agent-registry.ts';
import { arbAgentCard, arbTeam } from './arbitraries/agent-card.ts';
import { arbTier } from './arbitraries/tier-pair.ts';

const registryOf = (cards: readonly AgentCard[]): AgentRegistry => {
  const registry = new AgentRegistry();
  for (const card of cards) registry.register(card);
  return registry;
};

function failureOf(run: () => unknown): { code: string; message: string } {
  try {
    run();
  } catch (error) {
    if (isOrreryError(error)) return { code: error.code, message: error.message };
    throw error;
  }
  return { code: 'none', message: '' };
}

describe('Agent registry (N-P01, N-P02, N-P03, N-P04, N-P05)', () => {
  it('Feature: a2a-mcp-protocols, Property 1: Agent Card registration and retrieval', () => {
    fc.assert(
      fc.property(arbTeam(), (cards) => {
        const registry = registryOf(cards);
        expect(registry.listAll()).toStrictEqual(cards);
        for (const card of cards) {
          expect(registry.getById(card.id)).toStrictEqual(card);
          for (const { id } of card.capabilities) {
            const holders = cards.filter(({ capabilities }) => capabilities.some((other) => other.id === id));
            expect(registry.findByCapability(id)).toStrictEqual(holders);
          }
        }
        expect(registry.findByCapability('offered.by-nobody')).toEqual([]);
        expect(registry.getById('system/host')).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 2: Agent Card validation rejects incomplete cards', () => {
    const required = ['id', 'name', 'version', 'tier', 'capabilities'] as const;
    const arbLoss = fc.tuple(
      fc.subarray([...required], { minLength: 1 }),
      fc.constantFrom('absent', undefined, null),
    );
    fc.assert(
      fc.property(arbAgentCard(), arbTeam({}, { maxLength: 3 }), arbLoss, (card, others, [lost, instead]) => {
        const registry = registryOf(others.filter(({ id }) => id !== card.id));
        const before = registry.serialize();
        const incomplete: Record<string, unknown> = { ...card };
        for (const field of lost) {
          if (instead === 'absent') delete incomplete[field];
          else incomplete[field] = instead;
        }
        const failure = failureOf(() => registry.register(incomplete as AgentCard));
        expect(failure.code).toBe('INVALID_CARD');
        for (const field of lost) expect(failure.message).toContain(`${field} is `);
        expect(registry.serialize()).toBe(before);
      }),
      { numRuns: 200 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 3: Duplicate Agent Card updates revision', () => {
    const arbTwice = arbAgentCard().chain((first) =>
      fc.tuple(
        fc.constant(first),
        arbAgentCard({ id: fc.constant(first.id), origin: fc.constant(first.origin) }),
      ),
    );
    fc.assert(
      fc.property(arbTwice, arbTeam({}, { maxLength: 3 }), ([first, second], others) => {
        const neighbours = others.filter(({ id }) => id !== first.id);
        const registry = registryOf([first, ...neighbours, second]);
        const updated = { ...second, revision: first.revision + 1 };
        expect(registry.listAll()).toStrictEqual([updated, ...neighbours]);
        expect(registry.getById(first.id)).toStrictEqual(updated);
        for (const { id } of first.capabilities) {
          const isStillOffered = second.capabilities.some((capability) => capability.id === id);
          const isFound = registry.findByCapability(id).some((card) => card.id === first.id);
          expect(isFound).toBe(isStillOffered);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 4: Agent Card serialization round trip', () => {
    fc.assert(
      fc.property(arbTeam(), arbTier(), (cards, tier) => {
        for (const card of cards) {
          expect(parseAgentCard(JSON.parse(JSON.stringify(card)))).toStrictEqual(card);
        }
        const registry = registryOf(cards);
        const restored = AgentRegistry.deserialize(registry.serialize());
        expect(restored.listAll()).toStrictEqual(cards);
        expect(restored.getRemoteCards()).toStrictEqual(registry.getRemoteCards());
        expect(restored.findByTier(tier)).toStrictEqual(registry.findByTier(tier));
        expect(restored.serialize()).toBe(registry.serialize());
      }),
      { numRuns: 200 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 5: Remote Agent Card merge preserves origin', () => {
    fc.assert(
      fc.property(arbAgentCard(), arbTeam({ origin: fc.constant('local') }), (card, locals) => {
        const registry = registryOf(locals);
        const known = locals.find(({ id }) => id === card.id);
        expect(registry.mergeRemote(card)).toBe(known === undefined);
        expect(registry.getById(card.id)).toStrictEqual(known ?? { ...card, origin: 'remote' });
        expect(registry.getLocalCards()).toStrictEqual(locals);
        expect(registry.findByTier(0).filter(({ origin }) => origin === 'remote')).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});
