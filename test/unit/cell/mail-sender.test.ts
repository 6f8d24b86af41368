import fc from 'fast-check';
import { capability } from 'orrery';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AskOptions } from '../../../runtime/agent/context.ts';
import type { Accounts } from '../../../runtime/budget/accounts.ts';
import type { Cell } from '../../../runtime/cell/cell.ts';
import { Funding } from '../../../runtime/cell/funding.ts';
import { Handling } from '../../../runtime/cell/handling.ts';
import type { Identity } from '../../../runtime/cell/mail-maker.ts';
import { MailSender, type SendingThread } from '../../../runtime/cell/mail-sender.ts';
import { TimerWheel } from '../../../runtime/cell/timer-wheel.ts';
import { AskTable } from '../../../runtime/cell/waiting-asks.ts';
import { RoomWaiters } from '../../../runtime/link/room-waiters.ts';
import { LANE, type Lane, Mail, NO_ASK, REPLY, typeIndex } from '../../../runtime/mailbox/mail.ts';
import type { WaitingSend } from '../../../runtime/mailbox/waiting-send.ts';
import { newCounters } from '../../../runtime/observe/thread-counters.ts';
import type { AgentRow } from '../../../runtime/protocol/agent-row.ts';
import { actorDied, agentNotFound, errorToData } from '../../../runtime/protocol/errors.ts';
import { systemParty, verdictOf } from '../../../runtime/protocol/policy.ts';
import { Unrouted } from '../../../runtime/routing/mail-judge.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const survey = capability({
  id: 'survey',
  description: 'Surveys',
  input: z.unknown(),
  output: z.unknown(),
});
const MARS = {
  id: 'mars',
  slot: 0,
  place: 'elsewhere',
  party: { id: 'mars', tier: 2, sandboxId: undefined, isSystem: false },
  profile: { mailboxCapacity: 9, card: { origin: 'local' } },
} as unknown as AgentRow;
const HOST: Identity = { id: 'system/host', slot: -1, party: systemParty('system/host') };
const VENUS: Identity = { id: 'venus', slot: 1, party: { ...MARS.party, id: 'venus' } };

interface Accepted {
  readonly mail: Mail;
  readonly lane: Lane;
}

/** A thread that sends to `mars`, in whose mailbox there is so much room. */
function sending({ room = 9 }: { room?: number } = {}) {
  const clock = new FakeClock(1_000);
  const asks = new AskTable();
  const accepted: Accepted[] = [];
  const refused: string[] = [];
  const cancelledIds: string[] = [];
  const state = { room, isOpen: true, isStopped: false, isBehind: false, readArrived: () => {} };
  const held: WaitingSend[] = [];
  let serial = 0;
  const hasRoom = (): boolean => state.room > 0;
  const waiters = new RoomWaiters({ clock, hasRoom, want: () => {} });
  const thread = {
    id: 'here',
    seams: {
      clock,
      ids: {
        origin: 'o',
        next: () => {
          serial += 1;
          return serial;
        },
      },
    },
    turns: { stamp: () => clock.now() },
    wheel: new TimerWheel(clock),
    asks,
    funding: new Funding({} as Accounts),
    judge: {
      route: (_: unknown, { recipient }: Mail) =>
        recipient === 'mars' ? MARS : new Unrouted(verdictOf(agentNotFound(recipient))),
    },
    outbox: {
      hasRoom,
      accept: (_: AgentRow, lane: Lane, mail: Mail) => {
        state.room -= 1;
        accepted.push({ mail, lane });
      },
    },
    room: waiters,
    router: {
      get isOpen() {
        return state.isOpen;
      },
      get isStopped() {
        return state.isStopped;
      },
      get isBehind() {
        return state.isBehind;
      },
      hold: (send: WaitingSend) => held.push(send) > 0,
    },
    links: { to: () => undefined, readArrived: () => state.readArrived() },
    counters: new Float64Array(newCounters()),
    log: {
      isTold: false,
      refusal: (_: unknown, { recipient }: Mail, { code }: { code: string }) =>
        void refused.push(`${recipient} ${code}`),
      traffic: { note: () => {} },
      crossTier: () => {},
      routed: () => {},
    },
    cancel: (id: string) => void cancelledIds.push(id),
    answers: { pull: () => {} },
  } as unknown as SendingThread;
  const sender = new MailSender(thread);
  const handling = (from = VENUS): Handling => {
    const cell = {
      row: from,
      status: 'running',
      thread,
      lives: { taint: undefined },
      isRetry: () => false,
      waits: () => {},
    } as unknown as Cell;
    const path = [{ agent: 'mars', capability: 'plan', envelopeId: 'above' }];
    const request = typeIndex('request');
    return new Handling(
      cell,
      new Mail('in-hand', 'o', request, 'sun', from.id, 'talk', 0, 1, 'dig', 0, NO_ASK, path, undefined),
    );
  };
  /** Asks; `ends` is how often and with what it ended. */
  const ask = (options: AskOptions = {}, parent?: Handling, agent = 'mars') => {
    const ends: unknown[] = [];
    const from = parent === undefined ? HOST : VENUS;
    const done = sender.ask(from, { agent, capability: survey }, 1, options, parent).then(
      (value) => void ends.push(value),
      (error: { code: string }) => void ends.push(error.code),
    );
    return { ends, done };
  };
  const tell = (agent = 'mars', from = HOST, parent?: Handling) => sender.tell(from, agent, 1, {}, parent);
  /** So much room more, of which the thread is told. */
  const makeRoom = (more: number): void => {
    state.room += more;
    waiters.wake();
  };
  return {
    clock,
    asks,
    accepted,
    refused,
    cancelledIds,
    state,
    held,
    waiters,
    sender,
    handling,
    ask,
    tell,
    makeRoom,
  };
}

/** Lets promises settle. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const ENDS = ['answered', 'died', 'late', 'given up', 'work over'] as const;
type End = (typeof ENDS)[number];
const ENDED_WITH: Record<End, string> = {
  answered: 'here',
  died: 'ACTOR_DIED',
  late: 'DEADLINE_EXCEEDED',
  'given up': 'CANCELLED',
  'work over': 'CANCELLED',
};

describe('An ask', () => {
  it('ends once, by what comes first: its answer, a death, its deadline, its signal, the end of the work around it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...ENDS], { minLength: 1 }),
        fc.boolean(),
        async (order, hasSignal) => {
          const { clock, asks, accepted, cancelledIds, handling, ask } = sending();
          const parent = handling();
          const abort = new AbortController();
          const sent: string[] = [];
          const { ends, done } = ask(
            {
              timeoutMs: 100,
              onSent: (id) => void sent.push(id),
              ...(hasSignal ? { signal: abort.signal } : {}),
            },
            parent,
          );
          const { mail } = accepted[0] as Accepted;
          expect([sent, asks.size]).toEqual([[mail.id], 1]);
          const happens: Record<End, () => void> = {
            answered: () => asks.answer(mail.ask, REPLY.value, 'here'),
            died: () => asks.answer(mail.ask, REPLY.error, errorToData(actorDied('mars', 'it exited'))),
            late: () => clock.advance(200),
            'given up': () => abort.abort(),
            'work over': () => parent.end(),
          };
          for (const end of order) happens[end]();
          const first = order.find((end) => end !== 'given up' || hasSignal);
          if (first === undefined) asks.answer(mail.ask, REPLY.value, 'here');
          await done;
          expect(ends).toEqual([ENDED_WITH[first ?? 'answered']]);
          expect(cancelledIds).toEqual(first === 'given up' || first === 'work over' ? [mail.id] : []);
          expect([asks.size, parent.isWaiting]).toEqual([0, false]);
          // Nothing of it is left that could end it again.
          clock.advance(1_000);
          abort.abort();
          await settle();
          expect([ends.length, cancelledIds.length <= 1]).toEqual([1, true]);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('has its answer where that has arrived by its deadline and is read only then', async () => {
    const { clock, asks, accepted, state, ask } = sending();
    const { ends, done } = ask({ timeoutMs: 50 });
    const { mail } = accepted[0] as Accepted;
    state.readArrived = () => asks.answer(mail.ask, REPLY.value, 'just in time');
    clock.advance(100);
    await done;
    expect(ends).toEqual(['just in time']);
  });

  it('that is given up before it is sent is not sent', async () => {
    const { accepted, asks, ask, handling } = sending();
    const parent = handling();
    parent.end();
    for (const { done, ends } of [ask({ signal: AbortSignal.abort() }), ask({}, parent)]) {
      await done;
      expect(ends).toEqual(['CANCELLED']);
    }
    expect([accepted, asks.size]).toEqual([[], 0]);
  });

  it('has thirty seconds where neither its asker nor the work around it says how long', async () => {
    const { clock, ask } = sending();
    const { ends, done } = ask();
    clock.advance(29_900);
    await settle();
    expect(ends).toEqual([]);
    clock.advance(200);
    await done;
    expect(ends).toEqual(['DEADLINE_EXCEEDED']);
  });
});

describe('What is sent', () => {
  it('to nobody is refused by name, and the refusal is logged', async () => {
    const { tell, ask, refused, accepted } = sending();
    expect(tell('pluto')).toMatchObject({
      delivered: false,
      errorCode: 'AGENT_NOT_FOUND',
      error: expect.stringContaining('pluto'),
    });
    const { ends, done } = ask({}, undefined, 'pluto');
    await done;
    expect(ends).toEqual(['AGENT_NOT_FOUND']);
    expect([refused, accepted]).toEqual([['pluto AGENT_NOT_FOUND', 'pluto AGENT_NOT_FOUND'], []]);
  });

  it('to a full mailbox is refused, with its capacity', async () => {
    const { tell, ask, accepted } = sending({ room: 0 });
    const message = 'Mailbox of mars is full (capacity 9)';
    expect(tell()).toMatchObject({ delivered: false, errorCode: 'MAILBOX_FULL', error: message });
    const { ends, done } = ask();
    await done;
    expect([ends, accepted]).toEqual([['MAILBOX_FULL'], []]);
  });

  it('to an agent that waits for it goes as a call-back, to others as mail of users, and by the system as its own', () => {
    const { sender, tell, accepted, handling } = sending();
    tell('mars', VENUS, handling());
    tell();
    sender.tell(
      { ...HOST, id: 'system/clock', party: systemParty('system/clock') },
      'mars',
      1,
      {},
      undefined,
    );
    expect(accepted.map(({ lane }) => lane)).toEqual([LANE.callback, LANE.user, LANE.system]);
  });

  it('to whom the table does not name yet may be tried again, or waits for the table', async () => {
    const { sender, tell, state, held, ask } = sending();
    state.isBehind = true;
    expect(tell('pluto')).toMatchObject({ errorCode: 'NOT_HERE', retryAfterMs: expect.any(Number) });
    const asked = ask({}, undefined, 'pluto');
    const told = sender.tellWhenRoom(HOST, 'pluto', 1, {}, undefined);
    expect(held).toHaveLength(2);
    state.isBehind = false;
    for (const { go } of held) go();
    await asked.done;
    expect([asked.ends, (await told).errorCode]).toEqual([['AGENT_NOT_FOUND'], 'AGENT_NOT_FOUND']);
  });

  it('when the system stops is refused, unless it is part of what was under way, and that as long as it has not stopped', () => {
    const { state, tell, handling } = sending();
    const parent = handling();
    state.isOpen = false;
    expect(tell()).toMatchObject({ delivered: false, errorCode: 'SYSTEM_STOPPED' });
    expect(tell('mars', VENUS, parent)).toMatchObject({ delivered: true });
    state.isStopped = true;
    expect(tell('mars', VENUS, parent)).toMatchObject({ delivered: false, errorCode: 'SYSTEM_STOPPED' });
  });
});

describe('What waits for room', () => {
  it('goes in the order in which it came, as there is room, and whoever comes meanwhile stands behind', async () => {
    const { ask, sender, accepted, makeRoom } = sending({ room: 0 });
    const payloads = (): unknown[] => accepted.map(({ mail }) => mail.payload);
    for (const n of [1, 2])
      void sender
        .ask(HOST, { agent: 'mars', capability: survey }, n, { whenFull: 'park' }, undefined)
        .catch(() => {});
    void sender.tellWhenRoom(HOST, 'mars', 3, {}, undefined);
    expect(accepted).toEqual([]);
    makeRoom(1);
    expect(payloads()).toEqual([1]);
    void ask({ whenFull: 'park' });
    makeRoom(2);
    expect(payloads()).toEqual([1, 2, 3]);
    makeRoom(1);
    expect(payloads()).toEqual([1, 2, 3, 1]);
  });

  it.each<
    [string, string, (thread: ReturnType<typeof sending>, abort: AbortController, parent: Handling) => void]
  >([
    ['its deadline', 'DEADLINE_EXCEEDED', ({ clock }) => clock.advance(200)],
    ['its signal', 'CANCELLED', (_, abort) => abort.abort()],
    ['the end of the work around it', 'CANCELLED', (_, __, parent) => parent.end()],
    [
      'what cut that work short',
      'ACTOR_DIED',
      (_, __, parent) => parent.abort(actorDied('venus', 'it exited')),
    ],
    ['the end of the system', 'SYSTEM_STOPPED', ({ waiters }) => waiters.close()],
  ])('waits until %s, and is not sent after that', async (_, code, happen) => {
    const thread = sending({ room: 0 });
    const abort = new AbortController();
    const parent = thread.handling();
    const { ends, done } = thread.ask({ timeoutMs: 150, whenFull: 'park', signal: abort.signal }, parent);
    thread.clock.advance(100);
    await settle();
    expect(ends).toEqual([]);
    happen(thread, abort, parent);
    // Whoever waits is looked at now and then.
    thread.clock.advance(40);
    await done;
    expect(ends).toEqual([code]);
    thread.makeRoom(1);
    expect([thread.accepted, thread.asks.size, thread.cancelledIds]).toEqual([[], 0, []]);
  });

  it('that is told fails with what ended the wait, and names the mailbox', async () => {
    const { sender, clock } = sending({ room: 0 });
    const told = sender.tellWhenRoom(HOST, 'mars', 1, { deadlineAtMs: clock.now() + 50 }, undefined);
    clock.advance(100);
    await expect(told).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: expect.stringContaining('Room in the mailbox of mars'),
    });
  });
});
