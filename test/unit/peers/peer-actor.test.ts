import { describe, expect, it } from 'vitest';
import { fromEnvelope } from '../../../runtime/mailbox/mail.ts';
import type { RequestUser } from '../../../runtime/peers/own-request.ts';
import { PeerActor } from '../../../runtime/peers/peer-actor.ts';
import type { PeerAnswer } from '../../../runtime/peers/peer-message.ts';
import { refused } from '../../../runtime/protocol/errors.ts';

/** An envelope with 1,000 tokens that an agent of another node has in hand; what is refused of its answers is "bad". */
function relaying() {
  const ended: string[] = [];
  const users: RequestUser[] = [];
  const budget = { tokens: 1_000 };
  const mail = fromEnvelope({
    id: 'e-1',
    schemaVersion: 1,
    sender: 'mars',
    recipient: 'rome/venus',
    type: 'request',
    timestamp: 1,
    payload: 1,
    metadata: { tier: 2, budget },
  });
  const cell = {
    row: { id: 'rome/venus' },
    definition: {},
    thread: {
      turns: { beginUnlessRunning: () => undefined },
      judge: { partyOf: () => ({ tier: 2, sandboxId: undefined }) },
    },
    fail: (_: unknown, error: { code: string }) => ended.push(error.code),
    finish: () => ended.push('finished'),
  };
  const handling = {
    mail,
    budget,
    isOver: false,
    spend: ({ tokens = 0 }: { tokens?: number }) => {
      budget.tokens -= tokens;
    },
    refund: ({ tokens = 0 }: { tokens?: number }) => {
      budget.tokens += tokens;
    },
    whenCutShort: () => undefined,
  };
  const way = {
    line: {
      request: (_: unknown, user: RequestUser) => {
        users.push(user);
        return { pull: () => undefined, abort: () => undefined };
      },
    },
    names: { everywhere: (id: string) => id },
    taint: undefined,
    review: (value: unknown) => (value === 'bad' ? refused('it does not fit') : undefined),
  };
  new PeerActor(cell as never, () => way as never).handle(mail, handling as never);
  return { answer: (answer: PeerAnswer) => users[0]?.onAnswer(answer), budget, ended };
}

describe('What an agent of another node was asked', () => {
  it.each<readonly [string, PeerAnswer, number, string]>([
    [
      'what was spent of an answer',
      { type: 'done', n: 0, value: 1, spent: { tokens: 900 } },
      100,
      'finished',
    ],
    [
      'as much of one that is refused',
      { type: 'done', n: 0, value: 'bad', spent: { tokens: 900 } },
      100,
      'REFUSED',
    ],
    ['all for a refused answer that does not say', { type: 'done', n: 0, value: 'bad' }, 0, 'REFUSED'],
    ['all where it streams one value', { type: 'chunk', n: 0, value: 1 }, 0, 'REMOTE_FAILED'],
  ])('costs %s', (_, said, left, code) => {
    const { answer, budget, ended } = relaying();
    expect(budget.tokens).toBe(0);
    answer(said);
    expect([budget.tokens, ended]).toEqual([left, [code]]);
  });
});
