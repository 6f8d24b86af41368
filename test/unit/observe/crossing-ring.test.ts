import { describe, expect, it } from 'vitest';
import { fromEnvelope, Mail, NO_ASK } from '../../../runtime/mailbox/mail.ts';
import { CrossingRing } from '../../../runtime/observe/crossing-ring.ts';
import type { AgentRow } from '../../../runtime/protocol/agent-row.ts';
import { cardOf, envelopeOf } from '../routing/standalone-team.ts';
import { rowOf, tableOf } from './rows.ts';

const mailOf = (serial: number, origin = 'o', recipient = 'b'): Mail =>
  new Mail(
    serial,
    origin,
    2,
    'a',
    recipient,
    undefined,
    1_000 + serial,
    { large: true },
    'c',
    0,
    NO_ASK,
    undefined,
    undefined,
  );

describe('CrossingRing', () => {
  it('keeps the last crossings, however often it goes round', () => {
    for (const count of [0, 1, 3, 4, 5, 8, 11]) {
      const ring = new CrossingRing(4);
      for (let serial = 1; serial <= count; serial++) ring.note(mailOf(serial), 2, rowOf('b', 1));
      const times = ring.toEvents('host').map(({ timestamp }) => timestamp);
      const kept = Array.from({ length: Math.min(count, 4) }, (_, at) => 1_000 + count - at);
      expect(new Set(times)).toEqual(new Set(kept));
      expect(times).toHaveLength(kept.length);
    }
  });

  it('tells them as security events, ids written from origin and serial', () => {
    const ring = new CrossingRing(4);
    ring.note(mailOf(35, 'thread-1'), 3, rowOf('target', 0));
    expect(ring.toEvents('worker-1')).toStrictEqual([
      {
        type: 'routing-decision',
        timestamp: 1_035,
        place: 'worker-1',
        envelopeId: 'thread-1-z',
        sender: 'a',
        recipient: 'b',
        messageType: 'notification',
        targetAgentId: 'target',
        sourceTier: 3,
        targetTier: 0,
        routingPath: 'local',
        success: true,
        security: true,
      },
    ]);
    const mail = mailOf(36, 'thread-1');
    ring.note(mail, 3, rowOf('target', 0));
    expect(ring.toEvents('host')[1]?.envelopeId).toBe(mail.id);
  });

  it('tells what went to an agent of another node, also when it has gone since (N-D25)', () => {
    const ring = new CrossingRing(4);
    const table = tableOf(cardOf('b', { tier: 1, origin: 'remote' }));
    ring.note(mailOf(1), 2, table.get('b') as AgentRow);
    ring.note(mailOf(2, 'o', '*'), 2, table.get('b') as AgentRow);
    table.enter({ profiles: [], upsert: [], remove: ['b'] });
    const told = ring
      .toEvents('host')
      .map(({ routingPath, targetAgentId }) => ({ routingPath, targetAgentId }));
    expect(told).toEqual([
      { routingPath: 'remote', targetAgentId: 'b' },
      { routingPath: 'broadcast', targetAgentId: 'b' },
    ]);
  });

  it('leaves nothing of the older one where it puts a newer one', () => {
    const newer = fromEnvelope(
      envelopeOf({
        id: 'text',
        sender: 'x',
        recipient: '*',
        type: 'request',
        correlationId: 'talk',
        timestamp: 5,
      }),
    );
    const older = mailOf(7);
    older.correlationId = 'older';
    for (const [first, second] of [
      [older, newer],
      [newer, older],
      [newer, mailOf(8)],
    ] as const) {
      const ring = new CrossingRing(1);
      ring.note(first, 1, rowOf('b', 0));
      ring.note(second, 2, rowOf('c', 3));
      const fresh = new CrossingRing(1);
      fresh.note(second, 2, rowOf('c', 3));
      expect(ring.toEvents('host')).toStrictEqual(fresh.toEvents('host'));
    }
    const ring = new CrossingRing(1);
    ring.note(newer, 0, rowOf('c', 1));
    expect(ring.toEvents('host')).toMatchObject([
      { envelopeId: 'text', correlationId: 'talk', routingPath: 'broadcast', messageType: 'request' },
    ]);
  });
});
