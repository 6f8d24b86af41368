import { expect, it } from 'vitest';
import { AttackedNode, PATIENT } from '../fixtures/peers/attacked-node.ts';
import { BareWire } from '../fixtures/peers/bare-wire.ts';

it('A trusted node that shows 200,000 cards that are none keeps nobody from working, and ends no session but its own', async () => {
  await using attacked = await AttackedNode.start(PATIENT);
  const { rome } = attacked;
  const since = (await rome.peers()).find(({ node }) => node === 'oslo')?.sinceMs;
  using evil = await BareWire.dial(attacked.address, { node: 'evil', key: attacked.evil });
  await evil.join();
  const none = Array.from({ length: 64 }, (_, at) => ({ id: `imp-${at}`, capabilities: [{}, {}] }));
  const messages = Array.from({ length: 200 }, () => ({ type: 'cards', cards: none }));
  for (let times = 0; times < 16; times++) evil.say(...messages);
  await evil.taken();
  expect(evil.isOpen).toBe(true);
  const told = (await rome.call<{ reason?: string }[]>('events', 'error')).filter(({ reason = '' }) =>
    reason.startsWith('a card of evil was not taken'),
  );
  expect(told).toHaveLength(100);
  expect(told.at(-1)?.reason).toContain('of others in this session nothing is told');
  // The thread that speaks with others was not ended, and oslo has not come anew.
  const loops = (await rome.call<{ reason: string }[]>('events', 'watchdog')).filter(({ reason }) =>
    reason.startsWith('it loops'),
  );
  expect(loops).toEqual([]);
  expect((await rome.peers()).find(({ node }) => node === 'oslo')).toMatchObject({
    status: 'up',
    sinceMs: since,
  });
  await attacked.holdsOut();
});
