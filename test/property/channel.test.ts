import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { A2AChannel } from '../../runtime/channels/a2a-channel.ts';
import type { ChannelEvent } from '../../runtime/channels/channel-event.ts';
import type { ChannelStatus } from '../../runtime/protocol/channel-status.ts';
import { ChannelPair, moves, numbered, type Sent } from '../fixtures/channel-pair.ts';

const MOVES: ReadonlySet<string> = new Set([
  'connecting>open',
  'connecting>closed',
  'open>reconnecting',
  'open>closed',
  'reconnecting>open',
  'reconnecting>closed',
]);

const QUICK = { heartbeatMs: 300, silenceTimeoutMs: 1_000, handshakeTimeoutMs: 700, retryDelayMs: 100 };

/** The statuses of one end in order, each move following the one before. */
function statuses(events: readonly ChannelEvent[]): ChannelStatus[] {
  const seen: ChannelStatus[] = [];
  for (const event of events) {
    if (event.type !== 'channel-status') continue;
    expect(event.from).toBe(seen.at(-1));
    seen.push(event.status);
  }
  return seen;
}

const move = fc.oneof(
  { weight: 3, arbitrary: fc.constant('send' as const) },
  { weight: 2, arbitrary: fc.constantFrom('drop', 'halfOpen', 'freeze', 'down', 'up') },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 1_500 }) },
  { weight: 1, arbitrary: fc.constantFrom('closeHere', 'closeThere') },
);

const trouble = fc.record({
  kind: fc.constantFrom('drop' as const, 'halfOpen' as const, 'freeze' as const),
  afterMs: fc.integer({ min: 0, max: 900 }),
});

const faults = fc.record({
  loseRate: fc.double({ min: 0, max: 0.5, noNaN: true }),
  twiceRate: fc.double({ min: 0, max: 0.3, noNaN: true }),
  maxDelayMs: fc.integer({ min: 0, max: 40 }),
});

describe('a channel', () => {
  it('Feature: a2a-mcp-protocols, Property 10: Channel state machine validity (N-P10, N-3.1, N-3.2, N-3.3)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.integer({ min: 0, max: 300 }),
        fc.array(move, { maxLength: 25, size: 'max' }),
        async (seed, firstMs, steps) => {
          const channel = { ...QUICK, openTimeoutMs: 2_000, reconnectTimeoutMs: 3_000 };
          const pair = new ChannelPair({ seed, channel });
          pair.faulty.faults = { maxDelayMs: 100 };
          await pair.there.listen();
          const opening = pair.here.openChannel('mars', 'venus').catch(() => undefined);
          const [near] = pair.here.listChannels() as [A2AChannel];
          expect(near.status).toBe('connecting');
          expect(pair.here.getChannel(near.id)).toBe(near);
          await pair.pass(firstMs);
          let sends = 0;
          for (const step of steps) {
            if (typeof step === 'number') await pair.pass(step);
            else if (step === 'send') {
              const wasClosed = near.status === 'closed';
              const sent = pair.send(near, numbered(sends++));
              await pair.pass(0);
              if (wasClosed) expect(sent.outcome).toBe('CHANNEL_CLOSED');
              if (sent.outcome === 'CHANNEL_CLOSED') expect(near.status).toBe('closed');
            } else if (step === 'closeHere') {
              void near.close();
              expect(near.status).toBe('closed');
            } else if (step === 'closeThere') void pair.remote?.close();
            else if (step === 'down' || step === 'up') pair.faulty.isDown = step === 'down';
            else pair.faulty[step]();
          }
          await pair.here.closeAll();
          await pair.pass(5_000);
          await pair.there.closeAll();
          await pair.pass(1_000);
          await opening;
          for (const events of [pair.events.here, pair.events.there]) {
            const seen = statuses(events);
            if (seen.length > 0) expect([seen[0], seen.at(-1)]).toEqual(['connecting', 'closed']);
            expect(moves(events).filter((one) => !MOVES.has(one))).toEqual([]);
          }
          expect(near.status).toBe('closed');
          expect(pair.leftOver()).toBe(0);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 11: Channel message ordering (N-P11, N-3.4)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 1, max: 20 }),
        // A fourth connection that is lost over one envelope may end it.
        fc.array(trouble, { maxLength: 3, size: 'max' }),
        fc.record({ twiceRate: faults.map(({ twiceRate }) => twiceRate), maxDelayMs: fc.nat(40) }),
        async (seed, there, back, windowSize, troubles, misbehaviour) => {
          const pair = new ChannelPair({ seed, channel: { ...QUICK, windowSize } });
          const channel = await pair.open();
          pair.faulty.faults = misbehaviour;
          const remote = pair.remote as A2AChannel;
          const sent: Sent[] = [];
          for (let n = 0; n < Math.max(there, back); n++) {
            if (n < there) sent.push(pair.send(channel, numbered(n)));
            if (n < back) sent.push(pair.send(remote, numbered(n, 'venus')));
          }
          for (const { kind, afterMs } of troubles) {
            await pair.pass(afterMs);
            pair.faulty[kind]();
          }
          await pair.pass(30_000);
          expect(new Set(sent.map(({ outcome }) => outcome))).toEqual(
            new Set(sent.length > 0 ? ['sent'] : []),
          );
          expect(pair.arrived.there).toEqual(Array.from({ length: there }, (_, n) => `mars-${n}`));
          expect(pair.arrived.here).toEqual(Array.from({ length: back }, (_, n) => `venus-${n}`));
          expect([channel.status, remote.status]).toEqual(['open', 'open']);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('delivers what it says it sent, in order, and never what it says it did not, whatever the network does (N-3.4, N-3.5)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.array(fc.integer({ min: 0, max: 200 }), { minLength: 5, maxLength: 60, size: 'max' }),
        fc.integer({ min: 1, max: 12 }),
        fc.array(trouble, { maxLength: 12, size: 'max' }),
        faults,
        async (seed, pauses, windowSize, troubles, misbehaviour) => {
          const pair = new ChannelPair({ seed, channel: { ...QUICK, windowSize, maxRetries: 1 } });
          const channel = await pair.open();
          pair.faulty.faults = misbehaviour;
          const sent: Sent[] = [];
          const failedBefore = new Set<string>();
          const schedule = [...troubles];
          for (const [n, pauseMs] of pauses.entries()) {
            sent.push(pair.send(channel, numbered(n)));
            await pair.pass(pauseMs);
            const next = n % 4 === 3 ? schedule.shift() : undefined;
            if (next !== undefined) pair.faulty[next.kind]();
            for (const { id, outcome } of sent) if (outcome === 'DELIVERY_FAILED') failedBefore.add(id);
            // What failed is not among what arrived, and stays so.
            expect(pair.arrived.there.filter((id) => failedBefore.has(id))).toEqual([]);
          }
          pair.faulty.faults = {};
          await pair.pass(120_000);
          const arrived = pair.arrived.there;
          const byOutcome = (outcome: string) =>
            sent.filter((one) => one.outcome === outcome).map(({ id }) => id);
          expect(byOutcome('pending')).toEqual([]);
          if (channel.status === 'open') expect(arrived).toEqual(byOutcome('sent'));
          expect(arrived.filter((id) => byOutcome('DELIVERY_FAILED').includes(id))).toEqual([]);
          const order = sent.map(({ id }) => id);
          expect(arrived).toEqual(order.filter((id) => arrived.includes(id)));
          const failures = pair.events.here.filter(({ type }) => type === 'delivery-failed');
          expect(failures).toHaveLength(byOutcome('DELIVERY_FAILED').length);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 12: Channel retry on failure (N-P12, N-3.5, N-E07)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.integer({ min: 10, max: 2_000 }),
        fc.integer({ min: 0, max: 3 }),
        fc.integer({ min: 1, max: 8 }),
        fc.uniqueArray(fc.nat(7), { minLength: 1, maxLength: 3 }),
        async (seed, retryDelayMs, maxRetries, count, doomed) => {
          const pair = new ChannelPair({ seed, channel: { retryDelayMs, maxRetries } });
          const channel = await pair.open();
          const isDoomed = (frame: string) => doomed.some((n) => frame.includes(`"id":"mars-${n}"`));
          pair.faulty.judge = (frame, direction) =>
            direction === 'out' && isDoomed(frame) ? 'lose' : undefined;
          const sent = Array.from({ length: count }, (_, n) => pair.send(channel, numbered(n)));
          await pair.pass(retryDelayMs * 2 ** (maxRetries + 1) * 4);
          for (const [n, { id, outcome }] of sent.entries()) {
            const times = pair.faulty.sent
              .filter(({ frame, direction }) => direction === 'out' && frame.includes(`"id":"${id}"`))
              .map(({ atMs }) => atMs);
            const failures = pair.events.here.filter(
              (event) => event.type === 'delivery-failed' && event.envelopeId === id,
            );
            if (!doomed.includes(n)) {
              expect([outcome, times.length, failures.length]).toEqual(['sent', 1, 0]);
              continue;
            }
            expect(outcome).toBe('DELIVERY_FAILED');
            expect(failures).toMatchObject([{ errorCode: 'DELIVERY_FAILED', channelId: channel.id }]);
            expect(times).toHaveLength(maxRetries + 1);
            // The first wait is counted from when the envelope is the oldest; it alone can seem longer.
            const gaps = times.slice(1).map((atMs, index) => atMs - (times[index] as number));
            const waits = pair.events.here.flatMap((event) =>
              event.type === 'delivery-retried' && event.envelopeId === id ? [event.delayMs] : [],
            );
            expect(waits.slice(1)).toEqual(gaps.slice(1));
            expect(waits[0] ?? retryDelayMs).toBe(retryDelayMs);
            for (let at = 1; at < waits.length; at++)
              expect(waits[at]).toBeGreaterThanOrEqual(2 * (waits[at - 1] as number));
          }
          expect(pair.arrived.there).toEqual(sent.map(({ id }) => id).filter((_, n) => !doomed.includes(n)));
          expect(moves(pair.events.here)).toEqual(['connecting>open']);
        },
      ),
      { numRuns: 150 },
    );
  });
});
