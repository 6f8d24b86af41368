import { describe, expect, it } from 'vitest';
import { AgentPair, letter } from '../../fixtures/agent-pair.ts';
import { rejection } from '../../fixtures/until.ts';

/** Two agents with a channel between them that is open at both ends. */
async function opened(options: Record<string, unknown> = {}): Promise<AgentPair> {
  const pair = new AgentPair({ options });
  const opening = pair.open(options);
  await pair.flow();
  await opening;
  return pair;
}

const range = (count: number, from = 0, sender = 'mars'): string[] =>
  Array.from({ length: count }, (_, n) => `${sender}-${from + n}`);

const statusesOf = (member: AgentPair['mars']): unknown[] =>
  member.events.flatMap(({ channelStatus }) => channelStatus ?? []);

const outcomesOf = ({ sendings }: AgentPair): string[] => sendings.map(({ outcome }) => outcome);

/** How many envelopes of the channel wait for an agent, or are on their way to it. */
const onTheirWay = (pair: AgentPair): number =>
  pair.venus.mailbox.length + pair.mars.posted.length + pair.mars.unposted.length;

describe('opening a channel between agents of a system (C-37, N-3.1, N-3.2)', () => {
  it('is connecting until the other agent has accepted, and has one id at both', async () => {
    const pair = new AgentPair();
    const opening = pair.open();
    expect(pair.mars.channel).toMatchObject({
      status: 'connecting',
      remoteAgentId: 'venus',
      isAccepted: false,
    });
    await pair.flow();
    const channel = await opening;
    expect(channel).toMatchObject({ status: 'open', transport: 'local', isResumed: false });
    expect(pair.venus.channel).toMatchObject({ id: channel.id, status: 'open', isAccepted: true });
    expect(pair.mars.channels?.getChannel(channel.id)).toBe(channel);
    expect([statusesOf(pair.mars), statusesOf(pair.venus)]).toEqual([
      ['connecting', 'open'],
      ['connecting', 'open'],
    ]);
  });

  it('waits for an acceptor that takes its time, and lets it write already', async () => {
    const pair = new AgentPair();
    const gate = Promise.withResolvers<void>();
    pair.gate = gate.promise;
    const opening = pair.open();
    pair.post(pair.mars);
    pair.takeIn(pair.mars, 1);
    const handling = pair.handle(pair.venus);
    expect(pair.venus.channel?.status).toBe('connecting');
    const early = pair.send(pair.venus, 0);
    gate.resolve();
    await handling;
    await pair.flow();
    await opening;
    await pair.flow();
    expect([early?.outcome, pair.mars.arrived]).toEqual(['sent', ['venus-0']]);
  });

  it('is closed when it is not accepted in time, at both ends, and leaves nothing', async () => {
    const pair = new AgentPair();
    pair.gate = new Promise(() => undefined);
    const opening = pair.open({ openTimeoutMs: 2_000 });
    const failed = rejection(opening);
    pair.post(pair.mars);
    pair.takeIn(pair.mars, 1);
    void pair.handle(pair.venus);
    await pair.clock.advanceAsync(2_000);
    expect(await failed).toEqual({
      code: 'CHANNEL_CLOSED',
      message: expect.stringContaining('within 2000 ms'),
    });
    expect([pair.mars.channel, pair.mars.unposted.length]).toEqual([undefined, 1]);
    pair.venus.channels?.end('its actor is over');
    expect(pair.clock.pending).toBe(0);
  });

  it('meets its end again when the opener thread is killed before it is accepted', async () => {
    const pair = new AgentPair();
    const gate = Promise.withResolvers<void>();
    pair.gate = gate.promise;
    pair.open().catch(() => undefined);
    pair.post(pair.mars);
    pair.takeIn(pair.mars, 1);
    const handling = pair.handle(pair.venus);
    await pair.kill(pair.mars);
    gate.resolve();
    await handling;
    expect(pair.venus.channel?.status).toBe('reconnecting');
    await pair.flow();
    expect([pair.mars.channel, pair.venus.channel]).toMatchObject([
      { status: 'open', isResumed: true, isAccepted: false },
      { status: 'open' },
    ]);
  });

  it('does not try again with an agent that dies over the first request', async () => {
    const pair = new AgentPair();
    const failed = rejection(pair.open());
    pair.post(pair.mars);
    pair.takeIn(pair.mars, 1);
    await pair.crash(pair.venus, { isHandled: false });
    await pair.flow();
    expect((await failed).code).toBe('ACTOR_DIED');
    expect([pair.mars.channel, pair.venus.channel, pair.clock.pending]).toEqual([undefined, undefined, 0]);
  });

  it('refuses more channels than it may accept, and one to itself', async () => {
    const few = new AgentPair({ options: { maxAccepted: 0 } });
    const failed = rejection(few.open());
    await few.flow();
    expect((await failed).code).toBe('MAILBOX_FULL');
    expect((await rejection(few.mars.channels?.openChannel('mars') as Promise<unknown>)).code).toBe(
      'INVALID_OPTIONS',
    );
  });
});

describe('sending over a channel between agents of a system', () => {
  it('resolves when the handler has been called, in order, in both directions (N-3.4)', async () => {
    const pair = await opened();
    for (let n = 0; n < 3; n++) {
      pair.send(pair.mars, n);
      pair.send(pair.venus, n);
    }
    pair.post(pair.mars);
    pair.takeIn(pair.mars, 3);
    await pair.handle(pair.venus);
    expect([pair.venus.arrived, outcomesOf(pair)[0]]).toEqual([['mars-0'], 'pending']);
    await pair.flow();
    expect(outcomesOf(pair)).toEqual(Array.from({ length: 6 }, () => 'sent'));
    expect([pair.venus.arrived, pair.mars.arrived]).toEqual([range(3), range(3, 0, 'venus')]);
  });

  it('has no more under way than the window, lets so many wait, and refuses the rest (N-E11)', async () => {
    const pair = await opened({ windowSize: 4, waitingCapacity: 3 });
    for (let n = 0; n < 10; n++) pair.send(pair.mars, n);
    await pair.clock.advanceAsync(0);
    expect(onTheirWay(pair)).toBe(4);
    expect(outcomesOf(pair).slice(7)).toEqual(['MAILBOX_FULL', 'MAILBOX_FULL', 'MAILBOX_FULL']);
    await pair.flow();
    expect(pair.venus.arrived).toEqual(range(7));
  });

  it('waits for somebody who listens, and gives again, in order, what came while nobody did', async () => {
    const pair = await opened();
    pair.send(pair.mars, 0);
    pair.post(pair.mars);
    pair.takeIn(pair.mars, 1);
    pair.listen(pair.venus, false);
    for (let n = 1; n < 4; n++) pair.send(pair.mars, n);
    await pair.flow();
    pair.send(pair.mars, 4);
    expect([pair.venus.arrived, onTheirWay(pair)]).toEqual([[], 0]);
    pair.listen(pair.venus, true);
    await pair.flow();
    expect(pair.venus.arrived).toEqual(range(5));
    expect(outcomesOf(pair)).toEqual(Array.from({ length: 5 }, () => 'sent'));
  });

  it('rejects what a rule refuses with its code, and goes on', async () => {
    const pair = await opened();
    pair.mars.isForbidden = true;
    pair.send(pair.mars, 0);
    pair.send(pair.mars, 1);
    pair.mars.isForbidden = false;
    pair.send(pair.mars, 2);
    await pair.flow();
    expect(outcomesOf(pair)).toEqual(['TIER_VIOLATION', 'TIER_VIOLATION', 'sent']);
  });

  it('takes back what still waits when its signal aborts', async () => {
    const pair = await opened({ windowSize: 1 });
    const abort = new AbortController();
    pair.send(pair.mars, 0);
    const sending = pair.mars.channel?.send(letter(1), { signal: abort.signal }) as Promise<void>;
    abort.abort();
    expect((await rejection(sending)).code).toBe('CANCELLED');
    await pair.flow();
    expect(pair.venus.arrived).toEqual(['mars-0']);
  });

  it.each([
    ['no envelope', { id: 1 }, 'INVALID_ENVELOPE'],
    ['one of another version', { ...letter(0), schemaVersion: 2 }, 'SCHEMA_VERSION_MISMATCH'],
    ['one of another agent', letter(0, 'venus'), 'INVALID_ENVELOPE'],
    ['one for another agent', { ...letter(0), recipient: 'pluto' }, 'INVALID_ENVELOPE'],
    [
      'one for a capability',
      { ...letter(0), metadata: { tier: 1, routingHint: 'capability' } },
      'INVALID_ENVELOPE',
    ],
  ])('refuses %s', async (_what, envelope, code) => {
    const pair = await opened();
    expect((await rejection(pair.mars.channel?.send(envelope as never) as Promise<void>)).code).toBe(code);
  });

  it('refuses what comes over a channel of somebody else, and says so', async () => {
    const pair = await opened();
    pair.send(pair.mars, 0);
    pair.post(pair.mars);
    pair.takeIn(pair.mars, 1);
    const [carried] = pair.venus.mailbox;
    if (carried !== undefined) carried.mail.sender = 'pluto';
    await pair.flow();
    expect([pair.venus.arrived, outcomesOf(pair)]).toEqual([[], ['REFUSED']]);
    expect(pair.venus.events.at(-1)).toMatchObject({ type: 'error', security: true, agentId: 'venus' });
  });
});

describe('closing a channel between agents of a system (N-3.3, N-E06)', () => {
  it.each(['mars', 'venus'] as const)(
    'ends both when %s closes it, and frees everything',
    async (closing) => {
      const pair = await opened({ windowSize: 2 });
      pair.listen(pair.venus, false);
      const { channel } = pair.mars;
      for (let n = 0; n < 4; n++) pair.send(pair.mars, n);
      await pair.flow();
      await pair[closing].channel?.close();
      await pair.flow();
      expect(outcomesOf(pair)).toEqual(Array.from({ length: 4 }, () => 'CHANNEL_CLOSED'));
      expect(pair.sendings.map(({ details }) => details['mayHaveArrived'])).toEqual([
        false,
        false,
        false,
        false,
      ]);
      expect([pair.mars.channel, pair.venus.channel, pair.clock.pending]).toEqual([undefined, undefined, 0]);
      expect((await rejection(channel?.send(letter(9)) as Promise<void>)).code).toBe('CHANNEL_CLOSED');
      expect([statusesOf(pair.mars).at(-1), statusesOf(pair.venus).at(-1)]).toEqual(['closed', 'closed']);
    },
  );

  it('says of what is under way that it may have arrived', async () => {
    const pair = await opened();
    pair.send(pair.mars, 0);
    await pair.mars.channel?.close();
    await pair.flow();
    expect(pair.sendings).toMatchObject([{ outcome: 'CHANNEL_CLOSED', details: { mayHaveArrived: true } }]);
  });

  it('is not asked for again of an actor that has closed it and died', async () => {
    const pair = await opened();
    pair.send(pair.mars, 0);
    pair.post(pair.mars);
    pair.takeIn(pair.mars, 1);
    await pair.venus.channel?.close();
    await pair.crash(pair.venus, { isHandled: false });
    pair.post(pair.venus);
    // That it is closed waits for its turn when the death is known.
    pair.takeIn(pair.venus, Number.POSITIVE_INFINITY);
    expect(pair.mars.channel?.status).toBe('open');
    await pair.flow();
    expect([pair.mars.channel, pair.venus.channel, outcomesOf(pair)]).toEqual([
      undefined,
      undefined,
      ['CHANNEL_CLOSED'],
    ]);
  });

  it('is closed at both ends when one hears of the end while it asks the other to go on', async () => {
    const pair = await opened();
    pair.mars.channels?.threadDied(() => true);
    await pair.venus.channel?.close();
    await pair.flow();
    expect([pair.mars.channel, pair.venus.channel]).toEqual([undefined, undefined]);
  });

  it('tells an end that writes to a closed one', async () => {
    const pair = await opened();
    // Its last word is lost with its thread's post, which cannot be; but it need not come first.
    pair.venus.channels?.shut(new Error('closed') as never);
    pair.send(pair.mars, 0);
    await pair.flow();
    expect([outcomesOf(pair), pair.mars.channel]).toEqual([['CHANNEL_CLOSED'], undefined]);
  });
});

describe('a channel whose other end dies (N-3.7, N-V01, N-E07)', () => {
  it('goes on with the next actor, which is given what the last one had not begun', async () => {
    const pair = await opened();
    for (let n = 0; n < 4; n++) pair.send(pair.mars, n);
    pair.post(pair.mars);
    pair.takeIn(pair.mars, 4);
    await pair.handle(pair.venus);
    await pair.crash(pair.venus, { isHandled: true });
    await pair.flow();
    expect(pair.venus.arrived).toEqual(range(4));
    expect(outcomesOf(pair)).toEqual(['sent', 'DELIVERY_FAILED', 'sent', 'sent']);
    expect(pair.sendings[1]?.details).toMatchObject({ mayHaveArrived: true, envelopeId: 'mars-1' });
    expect(statusesOf(pair.mars)).toEqual(['connecting', 'open', 'reconnecting', 'open']);
    expect(pair.venus.channel).toMatchObject({ status: 'open', isResumed: true });
    expect(pair.mars.events).toContainEqual(
      expect.objectContaining({ type: 'error', errorCode: 'DELIVERY_FAILED', envelopeId: 'mars-1' }),
    );
  });

  it('is told of it while nothing is sent', async () => {
    const pair = await opened();
    await pair.crash(pair.venus, { isHandled: false });
    pair.post(pair.venus);
    pair.takeIn(pair.venus, 1);
    await pair.handle(pair.mars);
    expect(pair.mars.channel?.status).toBe('reconnecting');
    await pair.flow();
    expect([pair.mars.channel?.status, pair.venus.channel?.status]).toEqual(['open', 'open']);
  });

  it('goes on when it was the one that opened it, under the same leave and justification', async () => {
    const urgent = new AgentPair();
    const opening = urgent.open({ justification: 'it is urgent' });
    await urgent.flow();
    await opening;
    urgent.send(urgent.venus, 0);
    await urgent.kill(urgent.mars);
    await urgent.flow();
    expect([urgent.mars.arrived, urgent.venus.channel?.status]).toEqual([['venus-0'], 'open']);
    expect(urgent.mars.channel).toMatchObject({ isAccepted: false, isResumed: true });
    urgent.send(urgent.mars, 0);
    const [said] = urgent.mars.unposted;
    expect((said as { mail: { mail: unknown } }).mail.mail).toMatchObject({
      extras: { justification: 'it is urgent', channel: { act: 'data' } },
    });
  });

  it('asks again when the next one dies over the request, and gives up when that goes on', async () => {
    for (const [deaths, status] of [
      [2, 'open'],
      [3, undefined],
    ] as const) {
      const pair = await opened({ redial: { firstMs: 100, maxMs: 1_000 } });
      await pair.kill(pair.venus);
      for (let death = 0; death < deaths; death++) {
        pair.start(pair.venus);
        pair.post(pair.mars);
        pair.takeIn(pair.mars, 1);
        expect(pair.venus.mailbox).toHaveLength(1);
        await pair.crash(pair.venus, { isHandled: false });
        pair.post(pair.venus);
        pair.takeIn(pair.venus, 5);
        await pair.clock.advanceAsync(1_000);
      }
      await pair.pass(1_000);
      expect([deaths, pair.mars.channel?.status]).toEqual([deaths, status]);
      expect(pair.clock.pending).toBe(0);
    }
  });

  it('is closed when nobody comes back in time, and says what may have arrived', async () => {
    const pair = await opened({ reconnectTimeoutMs: 3_000 });
    pair.send(pair.mars, 0);
    pair.post(pair.mars);
    pair.takeIn(pair.mars, 1);
    await pair.crash(pair.venus, { isHandled: true });
    pair.post(pair.venus);
    pair.takeIn(pair.venus, 2);
    await pair.clock.advanceAsync(0);
    pair.send(pair.mars, 1);
    await pair.clock.advanceAsync(2_999);
    expect(pair.mars.channel?.status).toBe('reconnecting');
    await pair.clock.advanceAsync(1);
    expect([pair.mars.channel, pair.clock.pending]).toEqual([undefined, 0]);
    expect(pair.sendings).toMatchObject([
      { outcome: 'DELIVERY_FAILED', details: { mayHaveArrived: true } },
      { outcome: 'CHANNEL_CLOSED', details: { mayHaveArrived: false } },
    ]);
  });

  it('is closed when the other agent is ended for good, and rejects what it had not begun', async () => {
    const pair = await opened();
    pair.send(pair.mars, 0);
    pair.post(pair.mars);
    pair.takeIn(pair.mars, 1);
    await pair.stop(pair.venus);
    await pair.flow();
    expect(pair.mars.channel).toBeUndefined();
    expect(pair.sendings).toMatchObject([{ outcome: 'CHANNEL_CLOSED', details: { mayHaveArrived: false } }]);
    expect(pair.mars.events.at(-1)).toMatchObject({
      channelStatus: 'closed',
      reason: expect.stringContaining('venus'),
    });
  });
});
