import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { reachableEndpoints } from '../../../runtime/peers/reachable-endpoints.ts';
import type { AgentEndpoint } from '../../../runtime/protocol/agent-card.ts';

const webSocket = (address: string): AgentEndpoint => ({ transport: 'websocket', address });

describe('Where a node says that it is (N-1.7)', () => {
  it('is where it listens, but for all addresses of the machine each that others can reach', () => {
    const hosts = () => ['10.0.0.7', '[2001:db8::7]'];
    const others = [
      webSocket('ws://127.0.0.1:7400/orrery'),
      { transport: 'hyperswarm', address: 'hyperswarm:key' },
    ] as const;
    expect(reachableEndpoints(others, hosts)).toEqual(others);
    for (const everywhere of ['0.0.0.0', '[::]'])
      expect(reachableEndpoints([webSocket(`wss://${everywhere}:7400/orrery`)], hosts)).toEqual([
        webSocket('wss://10.0.0.7:7400/orrery'),
        webSocket('wss://[2001:db8::7]:7400/orrery'),
      ]);
    expect(reachableEndpoints([webSocket('ws://0.0.0.0.example:1/')], hosts)).toEqual([
      webSocket('ws://0.0.0.0.example:1/'),
    ]);
  });

  it('is an address of this machine', () => {
    const own = Object.values(networkInterfaces()).flatMap((all) =>
      (all ?? []).map(({ address }) => address),
    );
    for (const { address = '' } of reachableEndpoints([webSocket('ws://0.0.0.0:1/')]))
      expect(own).toContain(new URL(address).hostname.replace(/^\[|\]$/g, ''));
  });
});
