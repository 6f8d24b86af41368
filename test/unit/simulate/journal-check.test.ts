import { describe, expect, it } from 'vitest';
import type { Cell } from '../../../runtime/cell/cell.ts';
import type { Mail, MailExtras } from '../../../runtime/mailbox/mail.ts';
import { JournalCheck } from '../../../runtime/simulate/journal-check.ts';

const cell = (delivery: 'once' | 'retry' = 'once', durable = true): Cell =>
  ({
    thread: { id: 'worker-1' },
    row: { id: 'mars', profile: { durable } },
    isRetry: () => delivery === 'retry',
  }) as unknown as Cell;

const mail = (kept: number, extras?: MailExtras, id = `m-${kept}`): Mail =>
  ({ id, kept, sender: 'venus', recipient: 'mars', extras }) as unknown as Mail;

/** A check of a process that has written so many envelopes for mars, numbered from 1. */
function checkOf(count: number): JournalCheck {
  const check = new JournalCheck();
  check.lifeBegins();
  const mails = Array.from({ length: count }, () => ({ recipient: 'mars', body: '{}' }));
  check.written([{ mails, settled: [], records: [] }], [1]);
  return check;
}

const settled = (check: JournalCheck, ...numbers: number[]): void =>
  check.written([{ mails: [], settled: numbers, records: [] }], [9]);

describe('JournalCheck (F-01, F-03)', () => {
  it('is content with what is kept, begun on, told and forgotten, in one process or in several', () => {
    const check = checkOf(3);
    check.began(cell(), mail(1));
    check.settled(mail(1));
    settled(check, 1);
    check.began(cell('retry'), mail(2));
    check.lifeBegins();
    check.began(cell('retry'), mail(2));
    for (const number of [2, 3]) check.settled(mail(number));
    settled(check, 2, 3);
    settled(check, 2);
    check.checkRest(() => true);
    check.began(cell('once', false), mail(0));
    check.began(cell(), mail(0, { stream: true } as MailExtras));
    expect(check.violations).toEqual([]);
  });

  it('tells what is begun on before it is kept, or when its outcome is', () => {
    const check = checkOf(1);
    check.began(cell(), mail(0));
    check.began(cell(), mail(7));
    check.settled(mail(1));
    settled(check, 1);
    check.began(cell(), mail(1));
    check.settled(mail(1));
    expect(check.violations).toEqual([
      'mars has begun on m-0 before it was kept',
      'mars has begun on m-7 before it was kept',
      'mars has begun on m-1, of which the journal knew the outcome',
      'm-1 for mars has an outcome a second time',
    ]);
  });

  it('tells what is begun twice for once, whatever the process, but not after a loss of power', () => {
    const check = checkOf(2);
    check.began(cell(), mail(1));
    check.lifeBegins();
    check.began(cell(), mail(1));
    expect(check.violations).toEqual(['mars has begun twice on m-1, which is delivered once and kept']);
    check.began(cell(), mail(2));
    check.powerLost();
    check.lifeBegins();
    check.began(cell(), mail(2));
    expect(check.violations).toHaveLength(1);
  });

  it('tells what ends more than three processes', () => {
    const check = checkOf(1);
    for (let life = 0; life < 3; life++) {
      check.began(cell('retry'), mail(1));
      check.lifeBegins();
    }
    expect(check.violations).toEqual([]);
    check.began(cell('retry'), mail(1));
    expect(check.violations).toEqual(['mars has begun on m-1 in more than 3 processes']);
  });

  it('tells what is lost: out of the journal without an outcome, or in it for ever', () => {
    const check = checkOf(3);
    settled(check, 1);
    check.settled(mail(2));
    settled(check, 2);
    check.checkRest((id) => id === 'venus');
    expect(check.violations).toEqual(['Envelope 1 for mars left the journal without an outcome']);
    check.checkRest((id) => id === 'mars');
    expect(check.violations[1]).toBe('Envelope 3 for mars is kept, and nobody has handled it or told of it');
  });

  it('leaves to the next process what a thread that died had written', () => {
    const check = checkOf(1);
    check.threadDied('worker-2');
    check.checkRest(() => true);
    expect(check.violations).toEqual([]);
    check.lifeBegins();
    check.checkRest(() => true);
    expect(check.violations).toHaveLength(1);
  });

  it('tells what was sent again by a second attempt and begun on again', () => {
    const again = { derived: true } as MailExtras;
    const check = checkOf(4);
    check.began(cell(), mail(1, again, 'm~1'));
    check.lifeBegins();
    check.began(cell(), mail(2, again, 'm~1'));
    expect(check.violations).toEqual(['mars has begun twice on m~1 of venus, which was sent again']);
    check.began(cell('retry'), mail(3, again, 'm~2'));
    check.began(cell('retry'), mail(4, again, 'm~2'));
    expect(check.violations).toHaveLength(1);
  });
});
