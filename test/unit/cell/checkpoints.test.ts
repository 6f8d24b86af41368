import { describe, expect, it } from 'vitest';
import { Checkpoints, type Checkpoint } from '../../../runtime/cell/checkpoints.ts';
import { newFlowSlab } from '../../../runtime/mailbox/flow-marks.ts';
import { InFlow } from '../../../runtime/mailbox/in-flow.ts';
import { LANE, Mail, NO_ASK } from '../../../runtime/mailbox/mail.ts';
import { CheckpointReplicas } from '../../../runtime/control/replica-ledger.ts';

const INCARNATION = 3;
const LOCAL = -1;

function mailOf(incarnation: number, flow: number, sequence: number): Mail {
  const mail = new Mail(1, 'o', 0, 'a', 'b', undefined, 0, null, 'c', 0, NO_ASK, undefined, undefined);
  mail.flow = new InFlow(incarnation, flow, 1, LANE.user, newFlowSlab(0).words, 0);
  mail.sequence = sequence;
  return mail;
}

function checkpointsOf() {
  const posted: Checkpoint[] = [];
  return { posted, checkpoints: new Checkpoints(INCARNATION, (kept) => void posted.push(kept)) };
}

describe('Checkpoints of a thread', () => {
  it('keep the last of each envelope, and give the control thread each', () => {
    const { posted, checkpoints } = checkpointsOf();
    checkpoints.keep(mailOf(5, 1, 2), 'first');
    checkpoints.keep(mailOf(5, 1, 2), 'second');
    checkpoints.keep(mailOf(LOCAL, 1, 2), 'of another');
    expect(checkpoints.of(mailOf(5, 1, 2))).toBe('second');
    expect(checkpoints.of(mailOf(5, 1, 3))).toBeUndefined();
    expect(posted).toEqual([
      { incarnation: 5, flow: 1, sequence: 2, partial: 'first' },
      { incarnation: 5, flow: 1, sequence: 2, partial: 'second' },
      { incarnation: INCARNATION, flow: 1, sequence: 2, partial: 'of another' },
    ]);
  });

  it('give copies: what somebody does to one changes nothing', () => {
    const { checkpoints } = checkpointsOf();
    const mail = mailOf(5, 1, 2);
    checkpoints.keep(mail, { found: ['a'] });
    (checkpoints.of(mail) as { found: string[] }).found.push('b');
    expect(checkpoints.of(mail)).toEqual({ found: ['a'] });
  });

  it('are let go of with their envelope', () => {
    const { checkpoints } = checkpointsOf();
    checkpoints.keep(mailOf(5, 1, 2), 'kept');
    expect(checkpoints.isUsed).toBe(true);
    checkpoints.settle(mailOf(5, 1, 2));
    expect(checkpoints.isUsed).toBe(false);
    expect(checkpoints.of(mailOf(5, 1, 2))).toBeUndefined();
  });

  it('take over those of a thread that is gone, which had sent to itself', () => {
    const { posted, checkpoints } = checkpointsOf();
    checkpoints.restore({ incarnation: 9, flow: 4, sequence: -7, partial: 'kept there' });
    expect(checkpoints.of(mailOf(9, 4, -7))).toBe('kept there');
    expect(posted).toEqual([]);
  });
});

describe('Checkpoints of all threads', () => {
  const kept = (incarnation: number, flow: number, sequence: number) => ({
    incarnation,
    flow,
    sequence,
    partial: sequence,
  });

  it('are let go of when their envelope is settled, or its flow forgotten', () => {
    const book = new CheckpointReplicas();
    for (const one of [kept(1, 1, 5), kept(1, 1, 4), kept(1, 2, 5), kept(2, 1, 5)]) book.keep(one);
    book.trim((incarnation, flow) => (incarnation === 2 ? undefined : flow === 1 ? 4 : 0));
    expect([...book]).toEqual([kept(1, 1, 5), kept(1, 2, 5)]);
  });

  it('are compared as numbers that turn over', () => {
    const book = new CheckpointReplicas();
    for (const one of [kept(1, 1, 2 ** 31 - 1), kept(1, 1, -(2 ** 31))]) book.keep(one);
    book.trim(() => 2 ** 31 - 1);
    expect([...book]).toEqual([kept(1, 1, -(2 ** 31))]);
  });
});
