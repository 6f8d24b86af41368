import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { Mail, NO_ASK } from '../../../runtime/mailbox/mail.ts';
import type { StartedNotes } from '../../../runtime/journal/started-ring.ts';
import { type Beginner, Starts } from '../../../runtime/thread/starts.ts';
import { FakeLoop } from '../../fixtures/fake-loop.ts';

function mailOf(kept: number): Mail {
  const mail = new Mail(
    `m${kept}`,
    '',
    0,
    'a',
    'b',
    undefined,
    1,
    null,
    undefined,
    0,
    NO_ASK,
    undefined,
    undefined,
  );
  mail.kept = kept;
  return mail;
}

/** An agent with a mailbox: it begins on one mail after the other. */
class Agent implements Beginner {
  readonly waiting: Mail[] = [];
  #inHand: Mail | undefined;

  *mails(): Iterable<Mail> {
    if (this.#inHand !== undefined) yield this.#inHand;
    yield* this.waiting;
  }

  take(): Mail | undefined {
    this.#inHand = this.waiting.shift();
    if (this.#inHand !== undefined) this.#inHand.wasInHand = true;
    return this.#inHand;
  }
}

/** What the threads' file says by now, and how often it was written to. */
class Noted implements StartedNotes {
  readonly numbers = new Set<number>();
  writes = 0;

  note(numbers: readonly number[]): void {
    this.writes += 1;
    for (const number of numbers) this.numbers.add(number);
  }

  retract(numbers: readonly number[]): void {
    this.writes += 1;
    for (const number of numbers) this.numbers.delete(number);
  }

  close(): void {}
}

describe('What a thread notes before it begins on it (F-01)', () => {
  let noted: Noted;
  let loop: FakeLoop;
  let nowMs: number;
  let starts: Starts;
  let begun: Set<number>;

  beforeEach(() => {
    noted = new Noted();
    loop = new FakeLoop();
    nowMs = 0;
    begun = new Set();
    starts = new Starts({ notes: noted, clock: { monotonicMs: () => nowMs }, loop });
  });

  const agentWith = (first: number, count: number): Agent => {
    const agent = new Agent();
    for (let n = 0; n < count; n++) agent.waiting.push(mailOf(first + n));
    return agent;
  };

  const begin = (agent: Agent): void => {
    const mail = agent.take();
    if (mail === undefined || mail.kept === 0) return;
    starts.begin(agent, mail);
    begun.add(mail.kept);
  };

  const ahead = (): number[] => [...noted.numbers].filter((number) => !begun.has(number));

  it('is the one envelope that it begins on, where handlers take longer than 0.2 ms', () => {
    const agent = agentWith(1, 10);
    for (let n = 0; n < 10; n++, nowMs += 0.25) {
      begin(agent);
      expect(ahead()).toEqual([]);
    }
    expect(noted.writes).toBe(10);
  });

  it('is at most 32 at once where they are faster, each before it begins', () => {
    const agent = agentWith(1, 1_000);
    for (let n = 0; n < 1_000; n++, nowMs += 0.002) {
      begin(agent);
      expect([...begun].every((number) => noted.numbers.has(number))).toBe(true);
      expect(ahead().length).toBeLessThan(32);
    }
    expect(noted.writes).toBeLessThan(40);
  });

  it('is one again after a slow one', () => {
    const agent = agentWith(1, 100);
    for (let n = 0; n < 64; n++) begin(agent);
    loop.turn();
    nowMs += 50;
    begin(agent);
    expect(ahead()).toEqual([]);
  });

  it('goes no further than what waits, and leaves out what is not kept', () => {
    const agent = agentWith(1, 3);
    agent.waiting.push(mailOf(0), mailOf(4));
    for (let n = 0; n < 5; n++) begin(agent);
    expect([...noted.numbers].toSorted()).toEqual([1, 2, 3, 4]);
  });

  it('is taken back when the event loop has turned, and noted again when it begins', () => {
    const agent = agentWith(1, 40);
    for (let n = 0; n < 20; n++) begin(agent);
    expect(ahead().length).toBeGreaterThan(0);
    loop.turn();
    expect(ahead()).toEqual([]);
    begin(agent);
    expect(noted.numbers.has(21)).toBe(true);
  });

  it('holds what was begun on, little else, and nothing else after a turn, in whatever order agents begin', () => {
    const step = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({ agent: fc.nat(2), ms: fc.double({ min: 0, max: 0.3, noNaN: true }) }),
      },
      { weight: 1, arbitrary: fc.constant('turn' as const) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        noted = new Noted();
        begun = new Set();
        starts = new Starts({ notes: noted, clock: { monotonicMs: () => nowMs }, loop });
        const agents = [0, 1, 2].map((n) => agentWith(1 + 1_000 * n, 200));
        for (const one of steps) {
          if (one === 'turn') {
            loop.turn();
            expect(ahead()).toEqual([]);
          } else {
            nowMs += one.ms;
            begin(agents[one.agent] as Agent);
            expect(ahead().toSorted()).toEqual(starts.ahead.toSorted());
            expect(ahead().length).toBeLessThan(3 * 32);
          }
          expect([...begun].every((number) => noted.numbers.has(number))).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });
});
