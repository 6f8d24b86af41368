import { describe, expect, it } from 'vitest';
import type { SendingThread } from '../../../runtime/cell/mail-sender.ts';
import { outsiderOf } from '../../../runtime/mailbox/outsider.ts';
import { Peer } from '../../../runtime/peers/peer.ts';
import { PeerHost, type PeerOrder } from '../../../runtime/peers/peer-host.ts';
import { PeerLine } from '../../../runtime/peers/peer-line.ts';
import type { PeerSession } from '../../../runtime/peers/peer-session.ts';
import { Trust } from '../../../runtime/peers/trust.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import type { SystemEvent } from '../../../runtime/protocol/system-event.ts';
import { signingKeyPair } from '../../../runtime/protocol/signing.ts';
import { systemSeams } from '../../../runtime/protocol/system-seams.ts';
import { RoutingTable } from '../../../runtime/routing/routing-table.ts';
import { LocalNetwork } from '../../../transports/local/local-network.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const { publicKey } = signingKeyPair();
const granted = parseOptions(Trust, { key: publicKey }, 'trust.0');

const mars = (revision = 0) => ({
  ...{ id: 'mars', name: 'mars', version: '1.0.0', description: '', tier: 3, protocols: [] },
  ...{ endpoints: [{ transport: 'local' }], capabilities: [], revision, origin: 'local', lastSeenAt: 1 },
});

/** What `rome` knows of agents of `oslo`, and what it tells its control thread. */
function host() {
  const clock = new FakeClock();
  const noted: (string | undefined)[] = [];
  const orders: PeerOrder[] = [];
  const dismissed: string[] = [];
  const thread = {
    seams: { ...systemSeams(), clock },
    table: new RoutingTable(),
    channels: {},
    log: { note: ({ reason }: Partial<SystemEvent>) => noted.push(reason) },
  } as unknown as SendingThread;
  const rome = new PeerHost({
    thread,
    cellOf: () => undefined,
    reports: { enrol: (some) => orders.push(...some), dismiss: (ids) => dismissed.push(...ids) },
    self: { node: 'rome', keys: signingKeyPair(), trust: [granted], revoked: [], epoch: 1, salt: 'salt' },
    network: {
      ...{ transports: [new LocalNetwork().transport()], addresses: [], dial: [], topics: [] },
      channel: {},
    },
    extension: undefined,
  });
  const oslo = new Peer(
    { node: 'oslo', publicKey, trust: granted, outsider: outsiderOf('peer:oslo', 'salt') },
    {
      ...{ clock, patienceMs: 1_000, line: new PeerLine('oslo') },
      ...{ onStatus: () => undefined, onCut: () => undefined },
    },
  );
  oslo.session = {} as PeerSession;
  return { rome, oslo, orders, dismissed, noted };
}

const order = (id: string): PeerOrder => ({ id, module: 'peer:oslo/mars' });

/** Whether somebody who looks for the agent still waits for its row. */
async function isAwaited(rome: PeerHost): Promise<boolean> {
  const over = rome.lookUp({ kind: 'agent', id: 'oslo/mars' }).then(() => false);
  const turns = (async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    return true;
  })();
  return Promise.race([over, turns]);
}

describe('An agent of another node (C-31)', () => {
  it('joins under its whole name when an agent of this node has taken its id before the control thread had it', () => {
    const { rome, oslo, orders, noted } = host();
    rome.onCards([mars()], oslo);
    rome.enrolled(['peer:oslo/mars'], 'agents is "mars"');
    expect(orders).toEqual([order('mars'), order('oslo/mars')]);
    rome.enrolled(['peer:oslo/mars'], undefined);
    expect([...oslo.cards.keys()]).toEqual(['mars']);
    expect(noted).toEqual([]);
  });

  it('is forgotten when it cannot join under that either', () => {
    const { rome, oslo, orders, noted } = host();
    rome.onCards([mars()], oslo);
    for (let times = 0; times < 2; times++) rome.enrolled(['peer:oslo/mars'], 'its thread has ended');
    expect(orders).toEqual([order('mars'), order('oslo/mars')]);
    expect(oslo.cards.size).toBe(0);
    expect(noted).toEqual(['"oslo/mars" was not taken in: its thread has ended']);
  });

  it('is awaited until its last card is taken in, when that came before the one before was', async () => {
    const { rome, oslo, orders, dismissed } = host();
    rome.onCards([mars(0)], oslo);
    rome.onCards([mars(1)], oslo);
    expect(orders).toEqual([order('mars'), order('mars')]);
    expect(dismissed).toEqual(['mars']);
    rome.enrolled(['peer:oslo/mars'], undefined);
    expect(await isAwaited(rome)).toBe(true);
    rome.enrolled(['peer:oslo/mars'], undefined);
    expect(await isAwaited(rome)).toBe(false);
  });

  it('is not forgotten over a card that was withdrawn before it was taken in', async () => {
    const { rome, oslo, orders, noted } = host();
    rome.onCards([mars(0)], oslo);
    rome.onGone(['mars'], oslo);
    rome.onCards([mars(1)], oslo);
    rome.enrolled(['peer:oslo/mars'], 'Agent "oslo/mars" was not found');
    expect(orders).toEqual([order('mars'), order('mars')]);
    rome.enrolled(['peer:oslo/mars'], undefined);
    expect([...oslo.cards.keys()]).toEqual(['mars']);
    expect(noted).toEqual([]);
  });
});
