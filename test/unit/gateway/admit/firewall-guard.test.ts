import { describe, expect, it } from 'vitest';
import { type FirewallEvent, firewallGuard } from '../../../../gateway/admit/firewall-guard.ts';
import { refused } from '../../../../runtime/protocol/errors.ts';
import type { FirewallHooks } from '../../../../runtime/protocol/firewall.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

function guarded(hooks: FirewallHooks) {
  const clock = new FakeClock();
  const events: FirewallEvent[] = [];
  return { clock, events, guard: firewallGuard(hooks, { clock, tell: (event) => events.push(event) }) };
}
const never = () => new Promise<never>(() => undefined);

describe('The hooks of a firewall (C-33)', () => {
  it('that do not answer in their time are taken to have failed', async () => {
    const { clock, events, guard } = guarded({
      filterQuery: never,
      sanitizeResponse: never,
      zkAttest: never,
      did: 'did:a',
      timeoutMs: 1_000,
    });
    const asked = [
      [guard.filterQuery('bob', 'mars.add'), 'NOT_PERMITTED'],
      [guard.sanitizeResponse({}), 'REFUSED'],
      [guard.attest({}), 'REFUSED'],
    ] as const;
    const ended = asked.map(async ([answer, code]) => expect(answer).rejects.toMatchObject({ code }));
    // What is attested is hashed first.
    while (clock.pending < 3) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1_000);
    await Promise.all(ended);
    expect(events.map(({ kind, reason }) => [kind, reason])).toEqual([
      ['denied', 'filterQuery was not answered within 1000 ms'],
      ['withheld', 'sanitizeResponse: sanitizeResponse was not answered within 1000 ms'],
      ['withheld', 'zkAttest: zkAttest was not answered within 1000 ms'],
    ]);
  });

  it('leave no timer behind', async () => {
    const { clock, guard } = guarded({ filterQuery: () => true, sanitizeResponse: (value) => value });
    await guard.filterQuery('bob', 'mars.add');
    expect(await guard.sanitizeResponse({ a: 1 })).toEqual({ a: 1 });
    expect(clock.pending).toBe(0);
  });

  it('that are left out let in what the rules do, and out what is said', async () => {
    const { guard } = guarded({ sanitizeResponse: () => undefined });
    await guard.filterQuery('bob', 'mars.add');
    expect(await guard.sanitizeResponse('a')).toBeUndefined();
    expect([guard.attests, await guard.attest('a')]).toEqual([false, undefined]);
    const { guard: other } = guarded({ filterQuery: () => undefined });
    const said = { a: 1 };
    expect(await other.sanitizeResponse(said)).toBe(said);
  });

  it.each([false, 0, null, 'yes', {}])('let nobody in by coming to %j', async (verdict) => {
    const { guard, events } = guarded({ filterQuery: () => verdict as never });
    await expect(guard.filterQuery('bob', 'mars.add')).rejects.toMatchObject({
      code: 'NOT_PERMITTED',
      message: 'The firewall does not let bob use mars.add',
    });
    expect(events).toMatchObject([{ kind: 'denied', peer: 'bob', toolName: 'mars.add' }]);
  });

  it('tell the peer a reason only where they mean to', async () => {
    const thrown = guarded({ filterQuery: () => Promise.reject(new Error('the key is hush')) });
    await expect(thrown.guard.filterQuery('bob', 'mars.add')).rejects.toThrow(
      'does not let bob use mars.add',
    );
    expect(thrown.events).toMatchObject([{ reason: 'the key is hush' }]);
    const said = guarded({
      filterQuery: () => {
        throw refused('not on Sundays');
      },
    });
    await expect(said.guard.filterQuery('bob', 'mars.add')).rejects.toThrow(/^not on Sundays$/);
  });

  it('do not change what the agent has', async () => {
    const { guard } = guarded({
      sanitizeResponse: (value) => {
        delete (value as { token?: string }).token;
        return value;
      },
    });
    const said = { token: 'hush', a: 1 };
    expect(await guard.sanitizeResponse(said)).toEqual({ a: 1 });
    expect(said.token).toBe('hush');
  });
});

describe('The options of a firewall', () => {
  it.each([
    ['a hook that there is not', { filterquery: () => true }, 'firewall.filterquery'],
    ['no hook', {}, 'firewall'],
    ['a hook that is none', { filterQuery: 'no' }, 'firewall.filterQuery'],
    ['proofs of nobody', { zkAttest: () => new Uint8Array(1) }, 'firewall.did'],
    ['a time that is none', { filterQuery: () => true, timeoutMs: -1 }, 'firewall.timeoutMs'],
  ])('name %s', (_, hooks, field) => {
    expect(() => guarded(hooks as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining(`${field} is `) }),
    );
  });
});
