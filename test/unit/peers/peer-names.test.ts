import { describe, expect, it } from 'vitest';
import { PeerNames, readName } from '../../../runtime/peers/peer-names.ts';
import { clearanceBy, mayBeCalled, Trust } from '../../../runtime/peers/trust.ts';
import { trustOf } from '../../../runtime/peers/trust-book.ts';
import { AgentRegistry } from '../../../runtime/routing/agent-registry.ts';
import { signingKeyPair } from '../../../runtime/protocol/signing.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';

const card = (id: string) => ({
  id,
  name: id,
  version: '1.0.0',
  description: '',
  tier: 2,
  protocols: [],
  endpoints: [],
  capabilities: [],
  revision: 0,
  origin: 'local',
  lastSeenAt: 1,
});

describe('The names of agents among nodes', () => {
  it('are the node and the id everywhere, and the id alone here where nobody else has it', () => {
    const registry = new AgentRegistry();
    registry.register(card('mars') as never);
    const names = new PeerNames('rome', registry.table);
    expect(names.choose({ node: 'oslo', agent: 'venus' })).toBe('venus');
    expect(names.choose({ node: 'oslo', agent: 'mars' })).toBe('oslo/mars');
    expect(names.choose({ node: 'bern', agent: 'venus' })).toBe('bern/venus');
    expect(names.choose({ node: 'oslo', agent: 'system/host' })).toBe('oslo/system/host');
    expect(['mars', 'venus', 'oslo/mars', 'system/loop'].map((id) => names.everywhere(id))).toEqual([
      'rome/mars',
      'oslo/venus',
      'oslo/mars',
      'rome/system/host',
    ]);
    expect(['rome/mars', 'oslo/venus', 'oslo/mars', 'bern/io'].map((name) => names.here(name))).toEqual([
      'mars',
      'venus',
      'oslo/mars',
      'bern/io',
    ]);
    names.forget('oslo/venus');
    expect(names.here('oslo/venus')).toBe('oslo/venus');
    expect(['mars', '/mars', 'rome/'].map(readName)).toEqual([undefined, undefined, undefined]);
  });

  it('give way to an agent of this node, also before its row is here', () => {
    const names = new PeerNames('rome', new AgentRegistry().table);
    expect(names.choose({ node: 'oslo', agent: 'venus' })).toBe('venus');
    expect(names.giveWay('oslo/venus')).toBe('oslo/venus');
    expect(names.everywhere('venus')).toBe('rome/venus');
    expect(names.choose({ node: 'oslo', agent: 'venus' })).toBe('oslo/venus');
  });
});

describe('Whom a node trusts (C-31)', () => {
  const { publicKey } = signingKeyPair();
  const trust = (entry: object) => parseOptions(Trust, { key: publicKey, ...entry }, 'trust.0');

  it('is judged by what it was granted, whatever its cards claim', () => {
    expect(clearanceBy(trust({}), 'oslo', { sandboxId: 'system' })).toEqual({
      tier: 3,
      sandboxId: 'oslo/system',
      nodeId: 'oslo',
    });
    expect(clearanceBy(trust({ tier: 1, sandboxId: 'lab' }), 'oslo', {})).toMatchObject({
      tier: 1,
      sandboxId: 'lab',
    });
    expect(clearanceBy(trust({ sandboxId: null }), 'oslo', { sandboxId: 'x' })).toMatchObject({
      sandboxId: undefined,
    });
    expect(() => trust({ tier: 0 })).toThrow(/trust\.0\.tier is 0/);
    expect(() => trust({ key: 'no key' })).toThrow(/trust\.0\.key is "no key"/);
  });

  it('has the entry of its key before that for any, and agents of the names that it may use', () => {
    const entries = [trust({ key: '*' }), trust({ tier: 1, agents: ['mars', 'team-*'] })];
    expect(trustOf({ trust: entries, revoked: [] }, publicKey)?.tier).toBe(1);
    expect(trustOf({ trust: entries, revoked: [] }, signingKeyPair().publicKey)?.tier).toBe(3);
    expect(trustOf({ trust: [trust({})], revoked: [] }, signingKeyPair().publicKey)).toBeUndefined();
    const named = entries[1] as Trust;
    expect(['mars', 'team-1', 'venus'].map((id) => mayBeCalled(named, id))).toEqual([true, true, false]);
  });
});
