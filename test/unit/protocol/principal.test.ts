import { describe, expect, it } from 'vitest';
import { anonymousFrom, ANONYMOUS, chargedName, networkOf } from '../../../runtime/protocol/principal.ts';

describe('Somebody who has proved nothing', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['a socket', 'a socket'],
  ])('at %s is charged as one of %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
    expect(chargedName(anonymousFrom(address))).toBe(`anonymous at ${network}`);
  });

  it('of whom no address is known is charged as all of them are, and whoever has by their id', () => {
    expect(chargedName(anonymousFrom(undefined))).toBe('anonymous');
    const bob = { ...ANONYMOUS, id: 'key:bob', kind: 'user', address: '192.0.2.7' } as const;
    expect(chargedName(bob)).toBe('key:bob');
  });
});
