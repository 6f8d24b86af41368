import { describe, expect, it } from 'vitest';
import { fromEnvelope } from '../../../runtime/mailbox/mail.ts';
import { TRAFFIC, type Traffic, TrafficRing, trafficEvents } from '../../../runtime/observe/traffic-ring.ts';
import { envelopeOf } from '../routing/standalone-team.ts';
import { rowOf } from './rows.ts';

const mailOf = (id: string, payload: unknown = null) =>
  fromEnvelope(envelopeOf({ id, sender: 'a', recipient: 'b', payload }));

describe('TrafficRing', () => {
  it('keeps the last events, oldest first, each with a serial of its own', () => {
    const ring = new TrafficRing(32);
    const heard: Traffic[] = [];
    ring.listen({ takes: () => true, hear: (traffic) => heard.push(traffic) });
    const b = rowOf('b', 2);
    for (let n = 0; n < 100; n++) ring.note(TRAFFIC.sent, mailOf(`m${n}`), n, b, n / 10);
    const kept = [...ring.entries()];
    expect(kept.map(({ serial }) => serial)).toEqual(Array.from({ length: 32 }, (_, at) => 68 + at));
    expect(kept.map(({ mail }) => mail.id)).toEqual(kept.map(({ serial }) => `m${serial}`));
    expect(heard.map(({ serial }) => serial)).toEqual(Array.from({ length: 100 }, (_, at) => at));
    expect(kept.at(-1)).toMatchObject({ atMs: 99, latencyMs: 9.9, detail: b });
  });

  it('lets go of older payloads above its budget, and of no event', () => {
    const ring = new TrafficRing(1_024);
    const text = 'x'.repeat(100_000);
    for (let n = 0; n < 1_000; n++) {
      if (n % 2 === 0) ring.note(TRAFFIC.received, mailOf(`m${n}`, text), n, undefined);
      else ring.note(TRAFFIC.replied, mailOf(`m${n}`, text), n, text);
    }
    const kept = [...ring.entries()];
    expect(kept).toHaveLength(1_000);
    const heavy = kept.filter(({ mail, detail }) => mail.payload !== undefined || detail !== undefined);
    expect(heavy.length).toBeGreaterThanOrEqual(16);
    expect(heavy.length).toBeLessThan(120);
    expect(kept.at(-1)).toMatchObject({ mail: { payload: text }, detail: text });
    expect(kept[0]).toMatchObject({ mail: { id: 'm0', payload: undefined } });
    const [event] = trafficEvents(kept[0] as Traffic, { id: 'host', agentOf: () => 'b' });
    expect(event).toMatchObject({
      type: 'message-received',
      envelopeId: 'm0',
      sender: 'a',
      targetAgentId: 'b',
    });
  });

  it('tells where an envelope went: here, to another node, to all (N-D25)', () => {
    const ring = new TrafficRing(32);
    for (const detail of [rowOf('b', 2), rowOf('b', 2, 'remote'), undefined])
      ring.note(TRAFFIC.sent, mailOf('m'), 1, detail);
    const decisions = [...ring.entries()].map(
      (sent) => trafficEvents(sent, { id: 'host', agentOf: () => 'b' })[1],
    );
    expect(decisions).toMatchObject([
      { type: 'routing-decision', routingPath: 'local', targetAgentId: 'b' },
      { type: 'routing-decision', routingPath: 'remote', targetAgentId: 'b' },
      { type: 'routing-decision', routingPath: 'broadcast', targetAgentId: '*' },
    ]);
  });
});
