import { describe, expect, it } from 'vitest';
import type { AgentCard } from '../../../runtime/protocol/agent-card.ts';
import { AgentRegistry } from '../../../runtime/routing/agent-registry.ts';
import type { DiscoveryManager, FoundCard, LostCard } from '../../../runtime/routing/discovery.ts';
import type { AgentRow } from '../../../runtime/protocol/agent-row.ts';
import { RoutingTable, type TableDelta } from '../../../runtime/routing/routing-table.ts';
import { cardOf, offers } from './standalone-team.ts';

const invalidCard = (message: string) =>
  expect.objectContaining({ code: 'INVALID_CARD', message: expect.stringContaining(message) });

function registryOf(...cards: AgentCard[]): AgentRegistry {
  const registry = new AgentRegistry();
  for (const card of cards) registry.register(card);
  return registry;
}

describe('AgentRegistry (N-1.1, N-1.2, N-1.3, N-1.4, N-1.5, N-1.6, N-D04, N-E09)', () => {
  it('answers by id, capability and tier', () => {
    const mars = cardOf('mars', { tier: 2, ...offers('types.check', 'types.check') });
    const venus = cardOf('venus', { tier: 2 });
    const registry = registryOf(mars, venus);
    expect(registry.getById('mars')).toEqual(mars);
    expect(registry.getById('pluto')).toBeUndefined();
    expect(registry.findByCapability('types.check')).toEqual([mars]);
    expect(registry.findByTier(2)).toEqual([mars, venus]);
    expect(registry.listAll()).toEqual([mars, venus]);
  });

  it('keeps a copy of its own, which nobody can change', () => {
    const card = cardOf('mars', offers('types.check'));
    const registry = registryOf(card);
    card.tier = 0;
    expect(registry.getById('mars')?.tier).toBe(3);
    expect(() => Object.assign(registry.getById('mars') as AgentCard, { tier: 0 })).toThrow(TypeError);
    expect(Object.isFrozen(card.capabilities)).toBe(false);
  });

  it('unregisters once', () => {
    const registry = registryOf(cardOf('mars', offers('types.check')));
    expect(registry.unregister('mars')).toBe(true);
    expect(registry.unregister('mars')).toBe(false);
    expect(registry.getById('mars')).toBeUndefined();
    expect(registry.findByCapability('types.check')).toEqual([]);
  });

  it.each(['*', 'system/host'])('refuses the reserved id %s (C-31)', (id) => {
    expect(() => registryOf(cardOf(id))).toThrow(invalidCard('is reserved'));
    expect(() => new AgentRegistry().mergeRemote(cardOf(id))).toThrow(invalidCard('is reserved'));
  });

  it('refuses a card that JSON would lose something of, naming the field', () => {
    const [capability] = offers('types.check').capabilities;
    const inputSchema = { validate: () => true };
    const card = cardOf('mars', {
      capabilities: [{ ...capability, inputSchema } as AgentCard['capabilities'][number]],
    });
    expect(() => registryOf(card)).toThrow(invalidCard('capabilities[0].inputSchema.validate: a function'));
  });

  it('keeps a revision that cannot go up', () => {
    const registry = registryOf(cardOf('mars', { revision: Number.MAX_SAFE_INTEGER }), cardOf('mars'));
    expect(AgentRegistry.deserialize(registry.serialize()).getById('mars')?.revision).toBe(
      Number.MAX_SAFE_INTEGER,
    );
  });

  it.each([
    ['{', 'not JSON'],
    ['[]', 'it is [], expected an object'],
    ['{"format":2,"agents":[]}', 'format is 2, expected 1'],
    [
      '{"format":1,"agents":[{"card":{},"place":"local","delivery":"once","mailboxCapacity":1,"lazy":false}]}',
      'id is missing, expected a text',
    ],
  ])('refuses to read %s', (json, message) => {
    expect(() => AgentRegistry.deserialize(json)).toThrow(invalidCard(message));
  });

  it('refuses to read one agent twice', () => {
    const { agents, format } = JSON.parse(registryOf(cardOf('mars')).serialize()) as {
      agents: unknown[];
      format: number;
    };
    const twice = JSON.stringify({ format, agents: [...agents, ...agents] });
    expect(() => AgentRegistry.deserialize(twice)).toThrow(invalidCard('"mars" is saved twice'));
  });
});

describe('Remote cards (N-1.8, N-P05, C-31)', () => {
  it('keep what they say, and are judged by what they were granted', () => {
    const registry = new AgentRegistry();
    const far = cardOf('far', { tier: 0, sandboxId: 'box' });
    expect(registry.mergeRemote(far, { grantedTier: 2, nodeId: 'node-7' })).toBe(true);
    expect(registry.getById('far')).toEqual({ ...far, origin: 'remote' });
    expect(registry.table.get('far')?.party).toMatchObject({ tier: 2, sandboxId: 'node-7/box' });
    expect(registry.findByTier(0)).toEqual([]);
    expect(registry.findByTier(2)).toHaveLength(1);
    expect(registry.getRemoteCards()).toHaveLength(1);
    expect(registry.getLocalCards()).toEqual([]);
  });

  it('stand on tier 3 unless told otherwise, and never on tier 0', () => {
    const registry = new AgentRegistry();
    registry.mergeRemote(cardOf('far', { tier: 1 }));
    expect(registry.table.get('far')?.party.tier).toBe(3);
    expect(() => registry.mergeRemote(cardOf('far'), { grantedTier: 0 })).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining('grantedTier is 0'),
      }),
    );
  });

  it('do not replace a local card, by whatever way they come', () => {
    const local = cardOf('mars', { tier: 2 });
    const registry = registryOf(local);
    expect(registry.mergeRemote(cardOf('mars', { tier: 0 }))).toBe(false);
    expect(() => registry.register(cardOf('mars', { origin: 'remote' }))).toThrow(
      invalidCard('does not replace'),
    );
    expect(registry.getById('mars')).toEqual(local);
  });

  it("do not replace another node's, by whatever way they come (C-31)", () => {
    const registry = new AgentRegistry();
    expect(registry.mergeRemote(cardOf('mars', { version: '1.0.0' }), { nodeId: 'one' })).toBe(true);
    expect(registry.mergeRemote(cardOf('mars', { version: '6.6.6' }), { nodeId: 'two' })).toBe(false);
    expect(registry.mergeRemote(cardOf('mars', { version: '6.6.6' }))).toBe(false);
    expect(() => registry.register(cardOf('mars', { origin: 'remote', version: '6.6.6' }))).toThrow(
      invalidCard('origin: "mars" is an agent of the node "one"; a remote card does not replace it'),
    );
    expect(registry.getById('mars')?.version).toBe('1.0.0');
    expect(registry.mergeRemote(cardOf('mars', { version: '1.1.0' }), { nodeId: 'one' })).toBe(true);
    const restored = AgentRegistry.deserialize(registry.serialize());
    expect(restored.mergeRemote(cardOf('mars', { version: '6.6.6' }), { nodeId: 'two' })).toBe(false);
    expect(restored.getById('mars')?.version).toBe('1.1.0');
  });

  it("are in their node's own sandbox, whatever they say of one (C-31)", () => {
    const registry = new AgentRegistry();
    registry.mergeRemote(cardOf('bare'), { nodeId: 'one' });
    registry.mergeRemote(cardOf('near'), { nodeId: 'one' });
    registry.mergeRemote(cardOf('boxed', { sandboxId: 'box' }), { nodeId: 'one' });
    registry.mergeRemote(cardOf('stranger'));
    registry.register(cardOf('ours'));
    registry.register(cardOf('ours-boxed', { sandboxId: 'one' }));
    const seenBy = (id: string) =>
      registry
        .viewFor(id)
        .listAll()
        .map((card) => card.id);
    expect(seenBy('bare')).toEqual(['bare', 'near']);
    expect(seenBy('boxed')).toEqual(['boxed']);
    expect(seenBy('stranger')).toEqual(['stranger']);
    expect(seenBy('ours')).toHaveLength(6);
    const spelled = { nodeId: 'one/box' };
    expect(() => registry.mergeRemote(cardOf('sly'), spelled)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining('nodeId is "one/box"'),
      }),
    );
  });

  it('give way to a local card', () => {
    const registry = new AgentRegistry();
    registry.mergeRemote(cardOf('mars', { tier: 0 }));
    registry.register(cardOf('mars', { tier: 2 }));
    expect(registry.getById('mars')).toMatchObject({ origin: 'local', tier: 2 });
    expect(registry.table.get('mars')).toMatchObject({ place: 'local', party: { tier: 2 } });
  });

  it('are judged the same after a round trip', () => {
    const registry = registryOf(cardOf('mars'));
    registry.mergeRemote(cardOf('far', { sandboxId: 'box' }), { grantedTier: 1, nodeId: 'node-7' });
    const restored = AgentRegistry.deserialize(registry.serialize());
    expect(restored.table.get('far')).toMatchObject({
      place: 'node-7',
      party: { tier: 1, sandboxId: 'node-7/box' },
    });
  });
});

describe('viewFor (N-10.4)', () => {
  const cards = [
    cardOf('in', { sandboxId: 'box', ...offers('x') }),
    cardOf('out', offers('x')),
    cardOf('clerk', offers('x')),
  ];

  it('shows a sandboxed agent whom it may write to, and everybody else everybody', () => {
    const registry = registryOf(...cards);
    registry.setSandboxConfig({ enforced: true, crossSandboxAllowList: [], allow: { box: ['clerk'] } });
    expect(
      registry
        .viewFor('in')
        .findByCapability('x')
        .map(({ id }) => id),
    ).toEqual(['in', 'clerk']);
    expect(registry.viewFor('in').getById('out')).toBeUndefined();
    expect(registry.viewFor('out').listAll()).toHaveLength(3);
    expect(registry.viewFor('system/host').listAll()).toHaveLength(3);
  });

  it('fails for a reader that nobody registered', () => {
    expect(() => registryOf().viewFor('nobody')).toThrow(
      expect.objectContaining({ code: 'AGENT_NOT_FOUND' }),
    );
  });
});

describe('onChange', () => {
  it('hears of every write, applied here already, and counts the versions itself', () => {
    const deltas: TableDelta[] = [];
    const table = new RoutingTable();
    const registry = new AgentRegistry({
      table,
      onChange: (delta) => void deltas.push(structuredClone(delta)),
    });
    registry.register(cardOf('mars'));
    registry.unregister('mars');
    expect(deltas.map(({ version }) => version)).toEqual([0, 0]);
    expect(table.version).toBe(0);
    const replica = new RoutingTable();
    replica.apply(deltas[0] as TableDelta);
    expect(replica.get('mars')?.profile.card).toEqual(cardOf('mars'));
    replica.apply(deltas[1] as TableDelta);
    expect(replica.size).toBe(0);
  });

  it('leaves place and slot of a running agent alone', () => {
    const registry = registryOf(cardOf('mars'));
    const { profiles } = registry.table.snapshot();
    const upsert = [{ id: 'mars', slot: 7, place: 'worker-2', profile: 0, revision: 0 }];
    registry.table.apply({ version: 9, profiles, upsert, remove: [] });
    registry.register(cardOf('mars', { tier: 1 }));
    expect(registry.table.get('mars')).toMatchObject({
      slot: 7,
      place: 'worker-2',
      revision: 1,
      party: { tier: 1 },
    });
  });
});

describe('Discovery (N-1.7, N-1.8)', () => {
  function peers(pulled: FoundCard[] = []) {
    const announced = new Map<string, AgentCard>();
    let listener: ((found: FoundCard) => void) | undefined;
    const manager: DiscoveryManager = {
      announce: async (card) => void announced.set(card.id, card),
      withdraw: async (id) => void announced.delete(id),
      pull: async () => pulled,
      onFound: (found) => {
        listener = found;
        return () => {
          listener = undefined;
        };
      },
    };
    return {
      manager,
      announced,
      tell: (found: FoundCard) => listener?.(found),
      isListening: () => listener !== undefined,
    };
  }

  it('announces every local card, and merges what the peers have', async () => {
    const { manager, announced, tell } = peers([{ card: cardOf('far'), grant: { grantedTier: 2 } }]);
    const registry = registryOf(cardOf('mars'));
    await registry.enableHyperswarmDiscovery(manager);
    expect([...announced.keys()]).toEqual(['mars']);
    expect(registry.getById('far')?.origin).toBe('remote');
    expect(registry.table.get('far')?.party.tier).toBe(2);
    tell({ card: cardOf('farther') });
    expect(registry.getById('farther')?.origin).toBe('remote');
    registry.register(cardOf('venus'));
    registry.register(cardOf('venus'));
    expect(announced.get('venus')?.revision).toBe(1);
    registry.unregister('venus');
    registry.unregister('far');
    expect([...announced.keys()]).toEqual(['mars']);
  });

  it('takes away what its node announces no more, and nothing else', async () => {
    const { manager, tell } = peers();
    let lose: ((lost: LostCard) => void) | undefined;
    const losing = {
      ...manager,
      onLost: (listener: (lost: LostCard) => void) => {
        lose = listener;
        return () => {
          lose = undefined;
        };
      },
    };
    const registry = registryOf(cardOf('mars'));
    await registry.enableHyperswarmDiscovery(losing);
    for (const id of ['far', 'farther', 'hosted'])
      tell({ card: cardOf(id), grant: { nodeId: 'rome', grantedTier: 2, sandboxId: null } });
    expect(registry.table.get('far')?.party).toMatchObject({ tier: 2, sandboxId: undefined });
    const { profile, id } = registry.table.get('hosted') as AgentRow;
    registry.table.apply({
      version: 9,
      profiles: [profile],
      upsert: [{ id, slot: 7, place: 'host', profile: 0, revision: 0 }],
      remove: [],
    });
    lose?.({ nodeId: 'oslo', agentId: 'far' });
    lose?.({ nodeId: 'rome', agentId: 'farther' });
    for (const agentId of ['mars', 'hosted', 'nobody']) lose?.({ nodeId: 'rome', agentId });
    expect(registry.listAll().map((card) => card.id)).toEqual(['mars', 'far', 'hosted']);
    await registry.disableHyperswarmDiscovery();
    expect(lose).toBeUndefined();
  });

  it('reports what is no card, and goes on', async () => {
    const problems: unknown[] = [];
    const registry = new AgentRegistry({ onProblem: (error) => void problems.push(error) });
    const { manager } = peers([{ card: { id: 'broken' } }, { card: cardOf('far') }]);
    await registry.enableHyperswarmDiscovery(manager);
    expect(problems).toEqual([expect.objectContaining({ code: 'INVALID_CARD' })]);
    expect(registry.getRemoteCards().map(({ id }) => id)).toEqual(['far']);
  });

  it('stops listening and withdraws the local cards', async () => {
    const { manager, announced, tell, isListening } = peers();
    const registry = registryOf(cardOf('mars'));
    await registry.enableHyperswarmDiscovery(manager);
    await registry.disableHyperswarmDiscovery();
    expect(isListening()).toBe(false);
    expect(announced.size).toBe(0);
    tell({ card: cardOf('late') });
    registry.register(cardOf('venus'));
    expect(registry.getRemoteCards()).toEqual([]);
    expect(announced.size).toBe(0);
  });

  it('merges nothing that arrives after it was turned off', async () => {
    const { manager } = peers();
    const { promise, resolve } = Promise.withResolvers<FoundCard[]>();
    const registry = registryOf();
    const enabled = registry.enableHyperswarmDiscovery({ ...manager, pull: () => promise });
    await Promise.resolve();
    await registry.disableHyperswarmDiscovery();
    resolve([{ card: cardOf('late') }]);
    await enabled;
    expect(registry.listAll()).toEqual([]);
  });

  it('rejects, and is off, when the peers are out of reach', async () => {
    const { manager, isListening } = peers();
    const unreachable = { ...manager, pull: () => Promise.reject(new Error('no route')) };
    await expect(registryOf().enableHyperswarmDiscovery(unreachable)).rejects.toThrow('no route');
    expect(isListening()).toBe(false);
  });
});
