import { defineAgent, startSystem, type System } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { act } from '../fixtures/agents/member.ts';
import { memberOf } from '../fixtures/agents/member-of.ts';
import { agent } from '../fixtures/until.ts';

const speaker = defineAgent({
  id: 'speaker',
  name: 'SPEAKER',
  version: '2.1.0',
  description: 'Speaks two protocols',
  tier: 1,
  sandboxId: 'box',
  protocols: ['a2a/1.0', 'mcp/2024-11-05'],
}).handle(act, async () => 'spoke');

let system: System;

beforeAll(async () => {
  system = await startSystem({
    agents: [speaker, memberOf('inline', 'permanent'), agent('member', { instances: ['far', 'further'] })],
  });
});
afterAll(() => system.stop());

describe('The registry of a running system', () => {
  it('has the card that each agent built of itself when it started, wherever it lives (N-D19)', () => {
    const { registry } = system;
    expect(registry.listAll().map(({ id }) => id)).toEqual(['speaker', 'inline', 'far', 'further']);
    for (const card of registry.listAll()) {
      expect(card).toMatchObject({ origin: 'local', endpoints: [{ transport: 'local' }] });
      expect(card.capabilities.map(({ id }) => id)).toEqual([act.id]);
      expect(Math.abs(card.lastSeenAt - Date.now())).toBeLessThan(60_000);
    }
    expect(registry.getById('speaker')).toMatchObject({ version: '2.1.0', tier: 1, sandboxId: 'box' });
    expect(registry.findByCapability(act.id)).toHaveLength(4);
  });

  it('says which protocols an agent speaks: its own A2A unless it says otherwise (N-D05)', () => {
    expect(system.registry.getById('speaker')?.protocols).toEqual(['a2a/1.0', 'mcp/2024-11-05']);
    expect(system.registry.getById('far')?.protocols).toEqual(['a2a/1.0']);
  });
});
