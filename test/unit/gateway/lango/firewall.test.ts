import { describe, expect, it, vi } from 'vitest';
import { Firewall, type FirewallOptions } from '../../../../gateway/lango/firewall/firewall.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const A = 'did:key:a';
const B = 'did:key:b';
const MINUTE_MS = 60_000;

function wall(options: FirewallOptions = {}) {
  const clock = new FakeClock();
  return { clock, firewall: new Firewall(options, { clock }) };
}

/** What a peer is told, or `allowed`. */
function told(firewall: Firewall, peer: string, tool: string): string {
  try {
    firewall.filterQuery(peer, tool);
    return 'allowed';
  } catch (error) {
    expect(error).toMatchObject({ code: 'REFUSED' });
    return (error as Error).message;
  }
}

describe('The firewall of peers (L-15)', () => {
  it('denies what no rule allows', () => {
    expect(told(wall().firewall, A, 'search')).toBe(`no firewall rule allows ${A} the tool search`);
  });

  it.each([
    [[], ['search', 'x']],
    [['*'], ['search', 'x']],
    [['search'], ['search']],
    [['sea*'], ['search', 'sea']],
    [
      ['x', 'search'],
      ['search', 'x'],
    ],
  ])('takes the tools %j to mean %j', (tools, allowed) => {
    const { firewall } = wall({ rules: [{ peerDid: A, action: 'allow', tools }] });
    for (const tool of ['search', 'x', 'sea'])
      expect(told(firewall, A, tool) === 'allowed', tool).toBe(
        allowed.includes(tool) || tools.length === 0 || tools.includes('*'),
      );
    expect(told(firewall, B, 'search')).not.toBe('allowed');
  });

  it.each([A, '*'])('denies what a rule of %s denies, in whatever order the rules are', (peerDid) => {
    const deny = { peerDid, action: 'deny' as const, tools: ['admin*'] };
    const allow = { peerDid: A, action: 'allow' as const };
    for (const rules of [
      [deny, allow],
      [allow, deny],
    ]) {
      const { firewall } = wall({ rules });
      expect(told(firewall, A, 'admin.stop')).toBe(`a firewall rule denies ${A} the tool admin.stop`);
      expect(told(firewall, A, 'search')).toBe('allowed');
    }
  });

  it.each([[[]], [['*']], [['search', '*']]])('takes no rule that allows everybody %j', (tools) => {
    const rule = { peerDid: '*', action: 'allow' as const, tools };
    expect(() => wall({ rules: [rule] })).toThrow('allows everybody everything');
    const { firewall } = wall();
    expect(() => firewall.addRule(rule)).toThrow('allows everybody everything');
    expect(firewall.rules()).toEqual([]);
  });

  it('counts the requests of a peer by its rule, also denied ones, and fills up in a minute', () => {
    const { firewall, clock } = wall({
      rules: [{ peerDid: A, action: 'allow', tools: ['search'], rateLimit: 2 }],
    });
    expect(told(firewall, A, 'other')).toContain('no firewall rule');
    expect(told(firewall, A, 'search')).toBe('allowed');
    expect(told(firewall, A, 'search')).toBe(`rate limit exceeded for peer ${A}`);
    clock.advance(MINUTE_MS / 2);
    expect(told(firewall, A, 'search')).toBe('allowed');
    expect(told(firewall, A, 'search')).toBe(`rate limit exceeded for peer ${A}`);
    clock.advance(10 * MINUTE_MS);
    expect([1, 2, 3].map(() => told(firewall, A, 'search'))).toMatchObject([
      'allowed',
      'allowed',
      expect.stringContaining('rate limit'),
    ]);
  });

  it('counts the requests of all peers by the rule of everybody', () => {
    const { firewall } = wall({
      rules: [{ peerDid: '*', action: 'allow', tools: ['search'], rateLimit: 2 }],
    });
    expect([A, B, A].map((peer) => told(firewall, peer, 'search'))).toEqual([
      'allowed',
      'allowed',
      'global rate limit exceeded',
    ]);
  });

  it('counts the requests of each peer, whatever the rules say, and holds the counts of so many', () => {
    const options = { requestsPerMinute: 1, maxPeers: 2 };
    const { firewall } = wall({ ...options, rules: [{ peerDid: '*', action: 'allow', tools: ['search'] }] });
    expect([A, A, B].map((peer) => told(firewall, peer, 'search'))).toEqual([
      'allowed',
      `rate limit exceeded for peer ${A}`,
      'allowed',
    ]);
    for (let n = 0; n < 1_000; n++) told(firewall, `did:key:${n}`, 'search');
    expect(told(firewall, A, 'search')).toBe('allowed');
  });

  it('forgets with a rule what was counted for it', () => {
    const rule = { peerDid: A, action: 'allow' as const, rateLimit: 1 };
    const { firewall } = wall({ rules: [rule] });
    told(firewall, A, 'x');
    expect(told(firewall, A, 'x')).toContain('rate limit');
    expect([firewall.removeRule(A), firewall.removeRule(A)]).toEqual([1, 0]);
    firewall.addRule(rule);
    expect(told(firewall, A, 'x')).toBe('allowed');
  });

  it('gives a copy of its rules', () => {
    const { firewall } = wall({ rules: [{ peerDid: A, action: 'allow', tools: ['x'] }] });
    const [rule] = firewall.rules();
    const tools = rule?.tools as string[] | undefined;
    tools?.push('y');
    expect(firewall.rules()).toEqual([{ peerDid: A, action: 'allow', tools: ['x'], rateLimit: 0 }]);
  });

  it('holds so many rules', () => {
    const { firewall } = wall({ maxRules: 1, rules: [{ peerDid: A, action: 'deny' }] });
    expect(() => firewall.addRule({ peerDid: B, action: 'deny' })).toThrow('no more than 1 rules');
  });

  it('says which fields it has removed from a result, and not what they held', () => {
    const onRemoved = vi.fn();
    const { firewall } = wall({ onRemoved });
    expect(firewall.sanitizeResponse({ users: [{ token: 'x' }] })).toEqual({ users: [{}] });
    expect(firewall.sanitizeResponse({ a: 1 })).toEqual({ a: 1 });
    expect(onRemoved.mock.calls).toEqual([[['users[0].token']]]);
  });

  it.each([
    [{ rules: [{ peerDid: '', action: 'allow' }] }],
    [{ rules: [{ peerDid: A, action: 'maybe' }] }],
    [{ requestsPerMinute: 0 }],
    [{ zkAttest: () => Uint8Array.of(1) }],
  ])('is none with %j', (options) => {
    expect(() => wall(options as FirewallOptions)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS' }),
    );
  });
});
