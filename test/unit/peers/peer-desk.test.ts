import { expect, it } from 'vitest';
import type { WaitingValue } from '../../../runtime/cell/waiting-asks.ts';
import { REPLY } from '../../../runtime/mailbox/mail.ts';
import type { LaterOptions } from '../../../runtime/cell/mail-sender.ts';
import { PeerDesk } from '../../../runtime/peers/peer-desk.ts';
import { type PeerAnswer, type PeerRequest, readPeerMessages } from '../../../runtime/peers/peer-message.ts';
import { PeerNames } from '../../../runtime/peers/peer-names.ts';
import { mailboxFull, notSerialisable, refused } from '../../../runtime/protocol/errors.ts';
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

/** A desk of `rome` at which `mars` of `oslo` asks, whose thread sends with this. */
function deskWith(mailSender: object, accounts: object = {}) {
  const names = new PeerNames('rome', new AgentRegistry().table);
  names.choose({ node: 'oslo', agent: 'mars' });
  const thread = {
    table: new Map([['mars', { id: 'mars' }]]),
    turns: { beginUnlessRunning: () => undefined, stamp: () => 1 },
    mailSender,
    accounts,
    seams: { clock: { now: () => 1 }, newId: () => 'id' },
    log: { note: () => undefined },
    cancel: (id: string) => cancelledIds.push(id),
  };
  const desk = new PeerDesk({ thread, names, channels: {}, self: 'rome' } as never);
  const asker = { node: 'oslo', taint: undefined, outsider: 'oslo', whenKnown: () => Promise.resolve() };
  const answers: PeerAnswer[] = [];
  const cancelledIds: string[] = [];
  const session = {
    answer: (answer: PeerAnswer) => {
      if (answer.type === 'chunk') throw notSerialisable('chunk', 'too large');
      answers.push(answer);
    },
  };
  return {
    serve: (asked: PeerRequest) => desk.serve(asked, session as never, asker as never),
    answers,
    cancelledIds,
  };
}

it('A long note or refusal of a handler is cut to what a message may say, so that the session lives', () => {
  const sent: WaitingValue[] = [];
  const { serve, answers } = deskWith({
    askLater: (_: unknown, waiting: WaitingValue) => sent.push(waiting),
  });
  serve(request);
  const long = 'x'.repeat(20_000);
  sent[0]?.answer(REPLY.progress, [0.5, long]);
  sent[0]?.fail(refused(long, { retryAfterMs: -1 }));
  expect(readPeerMessages(answers)).toMatchObject([
    { type: 'progress', note: 'x'.repeat(16_384) },
    { type: 'failed', error: { code: 'REFUSED', message: 'x'.repeat(16_384), retryAfterMs: 0 } },
  ]);
});

it('A stream whose chunk no frame has room for is cancelled, and what was spent on it is told', async () => {
  const { serve, answers } = deskWith({
    async *streamLater(_: unknown, __: unknown, { onSpent }: LaterOptions) {
      try {
        yield 'too large';
      } finally {
        onSpent?.({ tokens: 7, costUsd: 0 });
      }
    },
  });
  const metadata = { tier: 2 as const, budget: { tokens: 9 } };
  serve({ ...request, wants: 'stream', envelope: { ...request.envelope, metadata } }).pull(8);
  await new Promise((resolve) => setImmediate(resolve));
  expect(answers).toMatchObject([
    { type: 'failed', error: { code: 'NOT_SERIALISABLE' }, spent: { tokens: 7 } },
  ]);
});

it('What was told is cancelled when the other node says so, and goes on when the session is over', () => {
  const { serve, cancelledIds } = deskWith({ sendSettled: () => new Promise(() => undefined) });
  const told = serve({ ...request, wants: 'outcome' });
  told.abort('the session is over', false);
  expect(cancelledIds).toEqual([]);
  told.abort('it was cancelled', true);
  expect(cancelledIds).toEqual(['e-1']);
});

it('What was told with a budget fails at its node, too, when no more budgets can be open here', async () => {
  const { serve, answers } = deskWith({}, { open: () => mailboxFull('The book of open budgets', 8) });
  const metadata = { tier: 2 as const, budget: { tokens: 9 } };
  serve({ ...request, wants: 'outcome', envelope: { ...request.envelope, metadata } });
  await new Promise((resolve) => setImmediate(resolve));
  expect(answers).toMatchObject([{ type: 'failed', error: { code: 'MAILBOX_FULL' } }]);
});
