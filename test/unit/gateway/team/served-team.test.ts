import { describe, expect, it } from 'vitest';
import { AgentRegistry } from '../../../../runtime/routing/agent-registry.ts';
import type { AgentCard } from '../../../../runtime/protocol/agent-card.ts';
import { servedTeam, type ServedTeamOptions } from '../../../../gateway/team/served-team.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const card = (id: string, version = '1.0.0'): AgentCard => ({
  id,
  name: id.toUpperCase(),
  version,
  description: 'An agent',
  tier: 2,
  protocols: [],
  capabilities: [],
  endpoints: [],
  revision: 1,
  origin: 'local',
  lastSeenAt: 0,
});

const identity = { name: 'Trial', description: 'A team', version: '1.0.0' };

function rig(options: Partial<ServedTeamOptions> = {}) {
  const registry = new AgentRegistry();
  for (const id of ['mars', 'venus']) registry.register(card(id));
  registry.mergeRemote({ ...card('far'), origin: 'remote' });
  const clock = new FakeClock();
  return { registry, clock, team: servedTeam(registry, { identity, ...options }, { clock }) };
}

describe('The agents that a gateway serves (C-31)', () => {
  it('are those of this system, in the order in which they came, and no others', () => {
    const { registry, team } = rig();
    expect(team.cards().map(({ id }) => id)).toEqual(['mars', 'venus']);
    expect(team.card('far')).toBeUndefined();
    registry.register(card('pluto'));
    registry.unregister('mars');
    expect(team.cards().map(({ id }) => id)).toEqual(['venus', 'pluto']);
  });

  it('are those that are to be seen, where that is said', () => {
    const { registry, team } = rig({ expose: ['venus'], entry: 'venus' });
    registry.register(card('pluto'));
    expect(team.cards().map(({ id }) => id)).toEqual(['venus']);
    expect(team.card('mars')).toBeUndefined();
    expect(team.entry).toBe('venus');
  });

  it('have another revision when a card is another one, and only then', () => {
    const { registry, team, clock } = rig();
    const { revision, modifiedAtMs } = team;
    clock.advance(1_000);
    registry.mergeRemote({ ...card('farther'), origin: 'remote' });
    expect([team.revision, team.modifiedAtMs]).toEqual([revision, modifiedAtMs]);
    registry.register(card('mars', '2.0.0'));
    expect(team.card('mars')?.version).toBe('2.0.0');
    expect([team.revision, team.modifiedAtMs]).toEqual([revision + 1, modifiedAtMs + 1_000]);
    registry.unregister('venus');
    expect(team.revision).toBe(revision + 2);
  });

  it('are refused where they are not there', () => {
    expect(() => rig({ expose: ['mars', 'nobody'] })).toThrow(
      'expose[1] is "nobody", expected the id of an agent of the team',
    );
    expect(() => rig({ entry: 'far' })).toThrow('entry is "far", expected the id of an agent that is served');
    expect(() => rig({ entry: 'mars', expose: ['venus'] })).toThrow('entry is "mars"');
  });
});
