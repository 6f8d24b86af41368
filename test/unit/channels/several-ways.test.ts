import { describe, expect, it } from 'vitest';
import { Dialer } from '../../../runtime/channels/dialer.ts';
import { BackOff } from '../../../runtime/protocol/back-off.ts';
import type { Connection, Transport, TransportKind } from '../../../runtime/protocol/transport.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const connection = { close: async () => undefined } as unknown as Connection;

/** Addresses: one that answers, one that nobody is at, and one that never says anything. */
const transport = (kind: TransportKind, tried: string[]): Transport => ({
  kind,
  maxFrameBytes: 1_024,
  connect: (address) => {
    tried.push(address);
    if (address.includes('gone')) return Promise.reject(new Error('nobody is there'));
    return address.includes('silent') ? new Promise(() => undefined) : Promise.resolve(connection);
  },
  listen: () => Promise.reject(new Error('it only connects')),
});

const dialling = (websocket: readonly string[], libp2p: readonly string[] = []) => {
  const clock = new FakeClock();
  const tried: string[] = [];
  const outcomes: string[] = [];
  const dialer = new Dialer({
    seams: { clock, random: () => 0 },
    transports: [transport('libp2p', tried), transport('websocket', tried)],
    endpoints: () => [
      ...websocket.map((address) => ({ transport: 'websocket' as const, address })),
      ...libp2p.map((address) => ({ transport: 'libp2p' as const, address })),
    ],
    redial: BackOff.parse({ firstMs: 10 }),
    timeoutMs: 1_000,
  });
  const dial = async (): Promise<void> => {
    dialer.dial({
      onConnected: (_, kind) => outcomes.push(kind),
      onFailed: (reason) => outcomes.push(reason),
    });
    for (let step = 0; step < 8; step++) await clock.advanceAsync(200);
  };
  return { dialer, dial, tried, outcomes };
};

describe('an end of a channel with several ways to the other (N-V01, N-D07)', () => {
  it('tries them in the order of the transports, and takes the first that connects', async () => {
    const { dial, tried, outcomes } = dialling(['w'], ['l-gone']);
    await dial();
    expect([tried, outcomes]).toEqual([['l-gone', 'w'], ['websocket']]);
  });

  it('begins the next attempt with the next one: one that keeps silent does not stand before the others', async () => {
    const { dialer, dial, tried, outcomes } = dialling(['w'], ['l-silent']);
    await dial();
    await dial();
    expect([tried, outcomes.at(-1)]).toEqual([['l-silent', 'w'], 'websocket']);
    dialer.succeeded();
    await dial();
    expect(tried.at(-1)).toBe('l-silent');
  });

  it('takes a refusal for the last word where the other end has answered before, or when all refuse', async () => {
    const { dialer, dial } = dialling(['w-1', 'w-2']);
    await dial();
    expect(dialer.refused()).toBe(false);
    await dial();
    dialer.answered();
    expect(dialer.refused()).toBe(true);
    dialer.answered();
    await dial();
    expect(dialer.refused()).toBe(false);
    const other = dialling(['w-1', 'w-2']);
    await other.dial();
    expect(other.dialer.refused()).toBe(false);
    await other.dial();
    expect(other.dialer.refused()).toBe(true);
    const only = dialling(['w']);
    await only.dial();
    expect(only.dialer.refused()).toBe(true);
  });
});
