import { describe, expect, it } from 'vitest';
import { endpointsToTell, ownAddresses } from '../../../runtime/peers/own-addresses.ts';
import { endpointsAt } from '../../../runtime/peers/peer-address.ts';
import { readPeerMessages } from '../../../runtime/peers/peer-message.ts';

describe('where a node says that it is (C-05, N-D07)', () => {
  it('is read address by address: what no transport has is passed over, the same counts once', () => {
    expect(
      endpointsAt(['ws://a:1/x', 'smtp:a', 'ws://a:1/x', 'hyperswarm:ab', '/ip4/1.2.3.4/tcp/1']),
    ).toEqual([
      { transport: 'websocket', address: 'ws://a:1/x' },
      { transport: 'hyperswarm', address: 'hyperswarm:ab' },
      { transport: 'libp2p', address: '/ip4/1.2.3.4/tcp/1' },
    ]);
  });

  it('is refused with more than 16 addresses, and with one of more than 512 characters', () => {
    const say = (addresses: readonly string[]) => () => readPeerMessages([{ type: 'endpoints', addresses }]);
    const many = Array.from({ length: 10_000 }, (_, at) => `ws://a:${at}/`);
    expect(say(many.slice(0, 16))()).toHaveLength(1);
    expect(say(many)).toThrow(/\[0\].addresses/);
    expect(say([`ws://${'a'.repeat(600)}`])).toThrow(/\[0\].addresses/);
  });

  it('is every address of the machine for a listener on all of them, and 16 at most', () => {
    const hosts = () => ['10.0.0.1', '192.168.0.7'];
    const listening = [
      { transport: 'websocket' as const, address: 'ws://0.0.0.0:7400/orrery' },
      { transport: 'websocket' as const, address: 'wss://[::]:7401/orrery' },
      { transport: 'hyperswarm' as const, address: 'hyperswarm:ab' },
      { transport: 'local' as const },
    ];
    expect(ownAddresses(listening, hosts)).toEqual([
      'ws://10.0.0.1:7400/orrery',
      'ws://192.168.0.7:7400/orrery',
      'wss://10.0.0.1:7401/orrery',
      'wss://192.168.0.7:7401/orrery',
      'hyperswarm:ab',
    ]);
    const many = Array.from({ length: 20 }, (_, at) => `10.0.0.${at}`);
    expect(ownAddresses(listening, () => many)).toHaveLength(16);
  });

  it('is what its owner says, and where it listens with transports of which the owner says nothing', () => {
    const listening = endpointsAt(['ws://0.0.0.0:7400/orrery', 'hyperswarm:ab']);
    expect(endpointsToTell([], listening)).toEqual(listening);
    const owner = endpointsAt(['ws://rome.example:7000/orrery', 'wss://rome.example/orrery']);
    expect(endpointsToTell(owner, listening).map(({ address }) => address)).toEqual([
      'ws://rome.example:7000/orrery',
      'wss://rome.example/orrery',
      'hyperswarm:ab',
    ]);
  });
});
