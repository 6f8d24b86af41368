import { expect, it } from 'vitest';
import { PeerDesk } from '../../../runtime/peers/peer-desk.ts';
import type { PeerRequest } from '../../../runtime/peers/peer-message.ts';
import { PeerNames } from '../../../runtime/peers/peer-names.ts';
import { AgentRegistry } from '../../../runtime/routing/agent-registry.ts';

const request: PeerRequest = {
  type: 'request',
  n: 0,
  wants: 'value',
  envelope: {
    id: 'e-1',
    schemaVersion: 1,
    sender: 'oslo/mars',
    recipient: 'rome/venus',
    type: 'request',
    timestamp: 1,
    payload: 1,
    metadata: { tier: 2 },
  },
};

it('What waited for its row is of that agent, though another has taken its id here meanwhile (C-31)', async () => {
  const names = new PeerNames('rome', new AgentRegistry().table);
  names.choose({ node: 'oslo', agent: 'mars' });
  const rows = new Map<string, { id: string }>();
  const sent: unknown[] = [];
  const thread = {
    table: rows,
    turns: { beginUnlessRunning: () => undefined, stamp: () => 1 },
    mailSender: {
      askLater: (from: unknown, { asked }: { asked: { sender: string } }) => sent.push(from, asked.sender),
    },
  };
  const desk = new PeerDesk({ thread, names, channels: {}, self: 'rome' } as never);
  const known = Promise.withResolvers<void>();
  const asker = { node: 'oslo', taint: undefined, outsider: 'oslo', whenKnown: () => known.promise };
  desk.serve(request, { answer: (answer: unknown) => sent.push(answer) } as never, asker as never);
  // An agent of this node has come that is called the same.
  names.giveWay('oslo/mars');
  const [ofRome, ofOslo] = [{ id: 'mars' }, { id: 'oslo/mars' }];
  for (const row of [ofRome, ofOslo]) rows.set(row.id, row);
  known.resolve();
  await known.promise;
  await Promise.resolve();
  expect(sent).toEqual([ofOslo, 'oslo/mars']);
});
