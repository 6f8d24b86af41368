import { describe, expect, it } from 'vitest';
import { PeerLine } from '../../../runtime/peers/peer-line.ts';
import type { PeerRequest } from '../../../runtime/peers/peer-message.ts';
import { sessionPair } from '../../fixtures/peers/session-pair.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const request: Omit<PeerRequest, 'n'> = {
  type: 'request',
  wants: 'stream',
  envelope: {
    id: 'e-1',
    schemaVersion: 1,
    sender: 'oslo/mars',
    recipient: 'rome/venus',
    type: 'stream-start',
    timestamp: 1,
    payload: 1,
    metadata: { tier: 2 },
  },
};
const user = { onAnswer: () => undefined, onLost: () => undefined };

describe('The way to another node (N-3.7)', () => {
  it('asks for what a reader wanted of a stream before there was a session', async () => {
    const [oslo, rome] = sessionPair();
    const line = new PeerLine('rome');
    line.request(request, user).pull(8);
    oslo.session.use(10);
    line.use(oslo.session);
    await turn();
    expect(rome.asked).toHaveLength(1);
    expect(rome.pulled).toEqual([8]);
  });

  it('asks for it again over the next session, if the request had not left in the one before', async () => {
    const [full] = sessionPair();
    const [oslo, rome] = sessionPair();
    const line = new PeerLine('rome');
    // Nothing may be open there yet.
    line.use(full.session);
    line.request(request, user).pull(8);
    line.pause();
    full.session.end('over');
    oslo.session.use(10);
    line.use(oslo.session);
    await turn();
    expect(rome.pulled).toEqual([8]);
  });

  it('counts no request that was given up while it waited, here or in the session', () => {
    const [full] = sessionPair();
    const line = new PeerLine('rome');
    const waiting = [0, 1, 2].map(() => line.request({ ...request }, user));
    waiting[0]?.abort('nobody waits');
    expect(line.held).toBe(2);
    line.use(full.session);
    waiting[1]?.abort('nobody waits');
    expect([line.held, full.session.counts.own]).toEqual([0, 1]);
  });

  it('keeps the order when the session is lost after its connection was', async () => {
    const [full] = sessionPair();
    const [oslo, rome] = sessionPair();
    const line = new PeerLine('rome');
    const ask = (id: string) => line.request({ ...request, envelope: { ...request.envelope, id } }, user);
    // Nothing may be open there yet.
    line.use(full.session);
    ask('first');
    ask('second');
    line.pause();
    ask('third');
    full.session.end('over');
    ask('fourth');
    oslo.session.use(10);
    line.use(oslo.session);
    await turn();
    expect(rome.asked.map(({ envelope }) => envelope.id)).toEqual(['first', 'second', 'third', 'fourth']);
  });
});
