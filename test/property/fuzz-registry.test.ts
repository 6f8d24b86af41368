import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOrreryError } from '../../runtime/protocol/errors.ts';
import { AgentRegistry } from '../../runtime/routing/agent-registry.ts';
import { times } from '../fixtures/effort.ts';
import { arbTeam } from './arbitraries/agent-card.ts';
import { arbDamaged, arbHostile, arbTorn } from './arbitraries/damage.ts';

const RUNS = { numRuns: times(200, 5_000) };

const arbSaved = (): fc.Arbitrary<string> =>
  arbTeam({}, { minLength: 1, maxLength: 3 }).map((cards) => {
    const registry = new AgentRegistry();
    for (const card of cards) registry.register(card);
    return registry.serialize();
  });

describe('a saved registry of which something was changed (N-P05)', () => {
  it('is refused with INVALID_CARD and the field, or gives cards that can be saved and read again', () => {
    const arbText = fc.oneof(
      arbTorn(arbSaved()),
      arbDamaged(arbSaved().map((text) => JSON.parse(text) as unknown)).map((value) => JSON.stringify(value)),
      arbHostile().map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(arbText, (text) => {
        let registry: AgentRegistry;
        try {
          registry = AgentRegistry.deserialize(text);
        } catch (error) {
          if (!isOrreryError(error)) throw error;
          expect(error.code).toBe('INVALID_CARD');
          expect(error.message).toMatch(/ is |not JSON|expected/);
          return;
        }
        const again = AgentRegistry.deserialize(registry.serialize());
        expect(again.listAll()).toStrictEqual(registry.listAll());
        for (const { id } of registry.listAll()) expect(registry.getById(id)?.id).toBe(id);
      }),
      RUNS,
    );
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
