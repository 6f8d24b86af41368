import { signingKeyPair, startSystem, type SystemEvent, type Team } from 'orrery';
import { webSocket } from 'orrery/websocket';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BareNode, soon } from '../fixtures/peers/bare-node.ts';

const card = (id: string) => ({
  ...{ id, name: id, version: '1.0.0', description: '', tier: 2, protocols: [], endpoints: [] },
  ...{ capabilities: [], revision: 0, origin: 'local', lastSeenAt: 1 },
});

describe('The numbers in a session between two nodes', () => {
  const keys = { rome: signingKeyPair(), oslo: signingKeyPair() };
  let rome: Team;

  beforeEach(async () => {
    rome = await startSystem({
      agents: [],
      spareThread: false,
      peers: {
        transports: [webSocket()],
        identity: { node: 'rome', key: keys.rome },
        trust: [{ key: keys.oslo.publicKey, node: 'oslo' }],
      },
    });
  });

  afterEach(async () => {
    await rome.stop({ drainMs: 0 });
  });

  const warnings = async (): Promise<readonly SystemEvent[]> =>
    (await rome.recentEvents()).filter(({ type }) => type === 'warning');

  it('begin at 0 and have no gap: a system says 0, 1, 2 and so on (M-01, M-02, C-04)', async () => {
    await using oslo = await BareNode.open(rome.peers.addresses[0] as string, 'oslo', keys.oslo);
    await oslo.join('oslo');
    for (let n = 1; n <= 3; n++) {
      await oslo.say({ type: 'ping', n });
      while (!oslo.heard.some((one) => one.type === 'pong' && one['n'] === n)) await soon();
    }
    const [first] = oslo.sessions;
    expect(oslo.sessions.length).toBeGreaterThan(3);
    expect(oslo.sessions).toEqual(oslo.sessions.map((_, sequence) => ({ id: first?.id, sequence })));
    expect(await warnings()).toEqual([]);
  });

  it('may have gaps, which are told; what has come before is dropped, and told (M-03, M-04, C-05)', async () => {
    await using oslo = await BareNode.open(rome.peers.addresses[0] as string, 'oslo', keys.oslo);
    await oslo.join('oslo');
    const show = (sequence: number, id: string): Promise<void> =>
      oslo.sayNumbered({ id: 's1', sequence }, { type: 'cards', cards: [card(id)] });
    await show(5, 'late-beginner');
    await show(6, 'next');
    await show(6, 'twice');
    await show(9, 'after-a-gap');
    await show(7, 'late');
    const ids = (): readonly string[] => rome.registry.getRemoteCards().map(({ id }) => id);
    while (!ids().includes('late')) await soon();
    expect([...ids()].sort()).toEqual(['after-a-gap', 'late', 'late-beginner', 'next']);
    const told = await warnings();
    expect(told.map(({ success, reason }) => [success, reason])).toEqual([
      [true, expect.stringContaining('sequence gap detected: number 5 of the session s1')],
      [false, expect.stringContaining('duplicate sequence detected: number 6')],
      [true, expect.stringContaining('sequence gap detected: number 9')],
      [true, expect.stringContaining('late sequence detected: number 7')],
    ]);
    expect(told[0]).toMatchObject({ agentId: 'system/peers', targetAgentId: 'oslo' });
    expect(oslo.status).toBe('open');
  });
});
