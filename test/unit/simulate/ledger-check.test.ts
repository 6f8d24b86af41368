import { describe, expect, it } from 'vitest';
import type { Cell } from '../../../runtime/cell/cell.ts';
import { InFlow } from '../../../runtime/mailbox/in-flow.ts';
import { Mail, NO_ASK } from '../../../runtime/mailbox/mail.ts';
import { COUNT, newCounters } from '../../../runtime/observe/thread-counters.ts';
import { LedgerCheck } from '../../../runtime/simulate/ledger-check.ts';
import { ProposalCheck } from '../../../runtime/simulate/invariants.ts';
import type { ThreadNode } from '../../../runtime/thread/thread-node.ts';

/** A thread with one agent, and the mails of one flow to it. */
function threadWith({ isRetry = false, capacity = 3 } = {}) {
  const counters = new Float64Array(newCounters());
  const flow = new InFlow(7, 0, 0, 1, new Int32Array(16), 0);
  const waiting: Mail[] = [];
  const there = { counters, incarnation: 1, cells: () => [cell] } as unknown as ThreadNode;
  const cell = {
    thread: there,
    row: { id: 'mars', profile: { mailboxCapacity: capacity } },
    inHand: 0,
    definition: { concurrency: 1 },
    isRetry: () => isRetry,
    get waiting() {
      return waiting.length;
    },
    mails: () => waiting,
  };
  const mail = (sequence: number): Mail => {
    const made = new Mail(
      0,
      'o',
      0,
      'venus',
      'mars',
      undefined,
      0,
      null,
      undefined,
      0,
      NO_ASK,
      undefined,
      undefined,
    );
    made.sequence = sequence;
    made.flow = flow;
    return made;
  };
  const check = new LedgerCheck();
  check.add(there);
  return { check, cell: cell as unknown as Cell & { inHand: number }, there, mail, counters, waiting };
}

describe('LedgerCheck (F-03)', () => {
  it('is content with what goes as it should', () => {
    const { check, cell, there, mail, counters } = threadWith();
    counters[COUNT.accepted] = 2;
    for (const sequence of [1, 2]) {
      check.began(cell, mail(sequence));
      check.settled(there, mail(sequence));
    }
    counters[COUNT.handled] = 1;
    counters[COUNT.deadLettered] = 1;
    check.check();
    check.checkSettled();
    expect(check.violations).toEqual([]);
    expect(check.begun).toBe(2);
  });

  it('tells what is begun twice and may not be, also in another thread of the agent', () => {
    const [once, successor] = [threadWith(), threadWith()];
    once.check.began(once.cell, once.mail(1));
    once.check.add(successor.there);
    once.check.began(successor.cell, successor.mail(1));
    expect(once.check.violations).toEqual([expect.stringContaining('has begun twice')]);
    const retry = threadWith({ isRetry: true });
    retry.check.began(retry.cell, retry.mail(1));
    retry.check.began(retry.cell, retry.mail(1));
    expect(retry.check.violations).toEqual([]);
  });

  it('tells what is begun out of order, but for call-backs', () => {
    const { check, cell, mail } = threadWith();
    check.began(cell, mail(2));
    cell.inHand = 2;
    check.began(cell, mail(5));
    cell.inHand = 1;
    check.began(cell, mail(3));
    expect(check.violations).toEqual([]);
    check.began(cell, mail(1));
    expect(check.violations).toEqual([expect.stringContaining('after a later one')]);
  });

  it('tells of two outcomes, of more outcomes than envelopes, and of fewer', () => {
    const { check, there, mail, counters } = threadWith();
    check.settled(there, mail(1));
    check.settled(there, mail(1));
    expect(check.violations).toEqual([expect.stringContaining('two outcomes')]);
    counters[COUNT.handled] = 1;
    check.check();
    expect(check.violations[1]).toBe('0 envelopes were accepted and have 1 outcomes');
    counters[COUNT.accepted] = 2;
    check.checkSettled();
    expect(check.violations[2]).toContain('2 envelopes were accepted, 1 have an outcome');
  });

  it('tells of a mailbox that holds more than it may of one sender', () => {
    const { check, mail, waiting } = threadWith({ capacity: 2 });
    waiting.push(mail(1), mail(2));
    check.check();
    expect(check.violations).toEqual([]);
    waiting.push(mail(3));
    check.check();
    expect(check.violations).toEqual([expect.stringContaining('holds 3 envelopes')]);
  });

  it('keeps counting what a thread that is gone has counted', () => {
    const { check, there, counters } = threadWith();
    counters[COUNT.accepted] = 5;
    check.remove(there);
    expect(check.totals.accepted).toBe(5);
  });
});

describe('ProposalCheck (F-03)', () => {
  it('tells of a proposal that two agents have accepted', () => {
    const check = new ProposalCheck();
    const accepted = { type: 'negotiation', timestamp: 1, success: true, proposalId: 'p' } as const;
    check.see({ ...accepted, targetAgentId: 'io' });
    check.see({ ...accepted, targetAgentId: 'io' });
    check.see({ ...accepted, proposalId: 'q', targetAgentId: 'triton' });
    check.see({ ...accepted, success: false, targetAgentId: 'triton' });
    expect(check.violations).toEqual([]);
    check.see({ ...accepted, targetAgentId: 'triton' });
    expect(check.violations).toEqual(['The proposal p was accepted by io and by triton']);
  });
});
