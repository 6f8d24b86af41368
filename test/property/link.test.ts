import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_ASK } from '../../runtime/mailbox/mail.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { type LinkEnd, linkPair, senderOf } from '../fixtures/link-pair.ts';

const CREDIT_WINDOW = 1_024;
const PATIENCE_MS = 100;
/** A post that was written before there was credit goes beyond the window by less than itself. */
const MAX_BATCH = 256;

const arbStep = () =>
  fc.record({
    side: fc.oneof({ arbitrary: fc.constant(0), weight: 3 }, fc.nat(1)),
    kind: fc.oneof(
      { arbitrary: fc.constant('mail' as const), weight: 5 },
      { arbitrary: fc.constantFrom('flush' as const, 'deliver' as const, 'take in' as const), weight: 3 },
      fc.constantFrom('ask' as const, 'reply' as const, 'notice' as const),
      { arbitrary: fc.constant('wait' as const), weight: 2 },
    ),
    count: fc.oneof(fc.nat(12), fc.integer({ min: 100, max: 300 }), fc.constantFrom(128, 256, 1_000, 1_100)),
  });

/** Enough that credit runs out in most, and in many for longer than anybody waits. */
const arbSteps = () => fc.array(arbStep(), { maxLength: 30, size: 'max' });

/** What was sent over one end, in order. */
const newSent = () => ({
  mails: [] as number[],
  replies: [] as unknown[][],
  cancels: [] as string[],
  pulls: [] as number[][],
});

/** Both ends, what was sent over each, and since when neither has had room for more mail. */
function newModel() {
  const clock = new FakeClock();
  const ends = linkPair(clock);
  const sent = [newSent(), newSent()] as const;
  const takenIn = [0, 0];
  const hadRoomAtMs = [0, 0];
  const inFlight = (side: number): number => {
    const { link } = ends[side as 0 | 1];
    return (sent[side]?.mails.length ?? 0) - link.queued - (takenIn[1 - side] as number);
  };
  const checkWindow = (): void => {
    for (const side of [0, 1]) {
      const isStuck = clock.monotonicMs() - (hadRoomAtMs[side] as number) >= PATIENCE_MS;
      if (!isStuck) expect(inFlight(side)).toBeLessThan(CREDIT_WINDOW + MAX_BATCH);
      if (inFlight(side) < CREDIT_WINDOW) hadRoomAtMs[side] = clock.monotonicMs();
    }
  };
  const takeIn = (side: 0 | 1, most: number): void => {
    const before = ends[side].owed;
    ends[side].takeIn(most);
    takenIn[side] = (takenIn[side] as number) + before - ends[side].owed;
  };

  function run({ side, kind, count }: { side: number; kind: string; count: number }): void {
    const end = ends[side as 0 | 1];
    const list = sent[side as 0 | 1];
    if (kind === 'mail' || kind === 'ask')
      for (let time = 0; time < count; time++) {
        const n = list.mails.push(list.mails.length) - 1;
        end.send(n % 7, n, kind === 'ask' ? n : NO_ASK);
      }
    else if (kind === 'reply')
      for (let ask = 0; ask < Math.min(count, 40); ask++) {
        end.link.sendReply(ask, ask % 5, { ask }, ask % 3 === 0);
        list.replies.push([ask, ask % 5, { ask }]);
        if (ends[1 - (side as 0 | 1)]?.link.asksInFlight) (ends[1 - side] as LinkEnd).link.asksInFlight -= 1;
      }
    else if (kind === 'notice') {
      end.link.sendCancel(`m${count}`);
      end.link.sendPull(count, 3);
      list.cancels.push(`m${count}`);
      list.pulls.push([count, 3]);
    } else if (kind === 'deliver') for (let time = 0; time < count && end.deliver(); time++);
    else if (kind === 'take in') takeIn(side as 0 | 1, count);
    else if (kind === 'flush') expect(end.link.flush()).toBe(end.link.isDrained);
    else clock.advance(count / 10);
    checkWindow();
  }

  /** Delivers all that comes, and takes it in; nobody posts unless woken. */
  function drain(): void {
    while (ends.some(({ undelivered, owed }) => undelivered + owed > 0)) {
      for (const side of [0, 1] as const) {
        while (ends[side].deliver());
        takeIn(side, Number.POSITIVE_INFINITY);
        checkWindow();
      }
    }
  }

  return { ends, sent, run, drain };
}

/** What arrived at `end` is what `sent` says, without its last mails if those were not posted. */
function expectArrived({ heard }: LinkEnd, sent: ReturnType<typeof newSent>, unposted = 0): void {
  const count = sent.mails.length - unposted;
  expect(heard.mails.map(({ payload }) => payload)).toEqual(sent.mails.slice(0, count));
  expect(heard.mails.map(({ sender }) => sender)).toEqual(sent.mails.slice(0, count).map(senderOf));
  const sequences = new Map<number, number>();
  for (const { flow, sequence } of heard.mails) {
    const last = sequences.get(flow) ?? 0;
    if (sequence !== last + 1) expect([flow, sequence]).toEqual([flow, last + 1]);
    sequences.set(flow, sequence);
  }
}

describe('a link', () => {
  it('carries everything in order, within its credit, and wakes whoever waits for it', () => {
    fc.assert(
      fc.property(arbSteps(), (steps) => {
        const { ends, sent, run, drain } = newModel();
        for (const step of steps) run(step);
        // Whatever was sent is flushed once, soon after.
        for (const { link } of ends) link.flush();
        drain();
        for (const side of [0, 1] as const) {
          const { heard } = ends[1 - side] as LinkEnd;
          expectArrived(ends[1 - side] as LinkEnd, sent[side]);
          expect([heard.replies, heard.cancels, heard.pulls]).toEqual([
            sent[side].replies,
            sent[side].cancels,
            sent[side].pulls,
          ]);
          expect([ends[side].link.isDrained, ends[side].posted]).toEqual([true, sent[side].mails.length]);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('gives back exactly what was not posted when the other side is gone, and posts nothing more', () => {
    fc.assert(
      fc.property(arbSteps(), fc.boolean(), (steps, isClosing) => {
        const { ends, sent, run } = newModel();
        for (const step of steps) run(step);
        const [end, other] = ends;
        const { posted } = end;
        const arriving = other.undelivered;
        const left = end.link.retire();
        const mails = left.mails.map(({ payload }) => payload);
        expect(mails).toEqual(sent[0].mails.slice(posted));
        expect(left.flows.map(({ flow }) => flow)).toEqual(
          sent[0].mails.slice(posted).map((n) => end.flows[(n % 7) % 3]?.flow),
        );
        if (isClosing) end.link.close();
        expect([end.link.flush(), end.link.isDrained, end.link.queued]).toEqual([true, true, 0]);
        end.link.sendCancel('too late');
        expect(end.link.flush()).toBe(true);
        end.link.tellOfRoom();
        expect(other.undelivered).toBe(arriving);
        while (other.deliver());
        expectArrived(other, sent[0], mails.length);
      }),
      { numRuns: 100 },
    );
  });
});
