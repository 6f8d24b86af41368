import { expect, it } from 'vitest';
import { AttackedNode, PATIENT } from '../fixtures/peers/attacked-node.ts';
import { BareWire } from '../fixtures/peers/bare-wire.ts';
import { until } from '../fixtures/until.ts';

const cardOf = (id: string) => ({
  ...{ id, name: id, version: '1.0.0', description: 'x'.repeat(200), tier: 3, protocols: [], endpoints: [] },
  ...{ capabilities: [], revision: 0, origin: 'local', lastSeenAt: 1 },
});

it('10,000 cards of a trusted node are 1,000 agents: the others are refused and told, and those of other nodes stay (C-31)', async () => {
  await using attacked = await AttackedNode.start(PATIENT);
  const { rome } = attacked;
  using evil = await BareWire.dial(attacked.address, { node: 'evil', key: attacked.evil });
  await evil.join();
  // Two of them have the ids of agents that are there.
  evil.say({ type: 'cards', cards: ['worker-oslo', 'worker-rome'].map(cardOf) });
  for (let at = 0; at < 9_998; at += 50)
    evil.say({ type: 'cards', cards: Array.from({ length: 50 }, (_, more) => cardOf(`imp-${at + more}`)) });
  await evil.taken();
  await until('the last one is refused', async () =>
    (await rome.call<{ reason?: string }[]>('events', 'error')).some(({ reason = '' }) =>
      reason.includes('a card of evil was not taken: more than 1000 agents'),
    ),
  );
  const rows = await rome.peers();
  expect(rows.map(({ node, status, agents }) => [node, status, agents.length]).sort()).toEqual([
    ['evil', 'up', 1_000],
    ['oslo', 'up', 3],
  ]);
  const idsOf = async () =>
    (await rome.call<readonly (readonly [string, string])[]>('cards')).map(([id]) => id);
  await until('all of them are in the team', async () => (await idsOf()).includes('imp-997'));
  const ids = await idsOf();
  expect(ids).not.toContain('imp-998');
  expect(ids).toEqual(
    expect.arrayContaining(['worker-oslo', 'worker-rome', 'evil/worker-oslo', 'evil/worker-rome']),
  );
  await attacked.holdsOut();
});
