import { describe, expect, it } from 'vitest';
import { ClientMedium } from '../../../../actors/shared-state/client-medium.ts';
import { EarlyMessages } from '../../../../actors/shared-state/agent-documents.ts';
import { SYNC_SCHEMA, syncMessageOf } from '../../../../actors/shared-state/sync-envelope.ts';
import type { SyncMessage } from '../../../../actors/shared-state/sync-message.ts';
import type { ErrorCode } from '../../../../runtime/protocol/errors.ts';
import { type Outgoing, SCHEMA_VERSION } from '../../../../runtime/public.ts';
import { rejection } from '../../../fixtures/until.ts';
import { CHANNEL, SyncTeam, turns } from './sync-team.ts';

/** A medium at a client that answers each recipient with this code, or takes its envelope. */
function mediumOf(codes: Readonly<Record<string, ErrorCode | undefined>>) {
  const sent: Outgoing[] = [];
  let stopped = 0;
  const medium = new ClientMedium({
    client: {
      agentId: 'mars',
      send: (message) => {
        sent.push(message);
        const errorCode = codes[message.recipient];
        const refusal = errorCode === undefined ? {} : { errorCode, error: `${errorCode} it is` };
        const { recipient: targetAgentId } = message;
        const result = {
          delivered: errorCode === undefined,
          path: 'local',
          targetAgentId,
          latencyMs: 0,
        } as const;
        return { ...result, ...refusal, envelopeId: `e-${sent.length}` };
      },
    },
    members: () => ['mars', ...Object.keys(codes)],
    justification: 'both are members',
    onClosed: () => undefined,
    onStopped: () => {
      stopped += 1;
    },
  });
  return { medium, sent, stops: () => stopped };
}

/** A message as members send it. */
async function aMessage(): Promise<SyncMessage> {
  const team = await SyncTeam.of(['mars', 'venus']);
  team.at('mars').document.getText('text').insert(0, 'x');
  await turns();
  const [message] = team.hub.take('venus', 'update');
  if (message === undefined) throw new Error('Nothing was sent');
  return message;
}

const envelopeOf = (message: Outgoing) => ({
  id: 'e-1',
  schemaVersion: SCHEMA_VERSION,
  sender: 'mars',
  recipient: message.recipient,
  type: message.type,
  timestamp: 1,
  payload: JSON.parse(JSON.stringify(message.payload)) as unknown,
  schema: message.schema,
});

describe('The medium of a shared document at a client (N-9.1, N-D14)', () => {
  it('sends each other member one envelope, which is not kept', async () => {
    const { medium, sent } = mediumOf({ venus: undefined, earth: undefined });
    const message = await aMessage();
    expect(await medium.publish(message)).toBe(2);
    expect(sent.map(({ recipient }) => recipient)).toEqual(['venus', 'earth']);
    for (const one of sent) {
      expect(one).toMatchObject({
        type: 'stream-data',
        schema: SYNC_SCHEMA,
        correlationId: CHANNEL,
        justification: 'both are members',
        isFleeting: true,
      });
      expect(syncMessageOf(envelopeOf(one))).toEqual(message);
    }
  });

  it('takes members that are not there for nobody, and says when those that are take nothing', async () => {
    const message = await aMessage();
    expect(await mediumOf({}).medium.publish(message)).toBe(0);
    expect(await mediumOf({ venus: 'AGENT_NOT_FOUND', earth: 'NOT_HERE' }).medium.publish(message)).toBe(0);
    expect(await mediumOf({ venus: 'TIER_VIOLATION', earth: undefined }).medium.publish(message)).toBe(1);
    const { medium } = mediumOf({ venus: 'AGENT_NOT_FOUND', earth: 'TIER_VIOLATION' });
    expect(await rejection(medium.publish(message))).toEqual({
      code: 'TIER_VIOLATION',
      message: 'TIER_VIOLATION it is',
    });
    expect((await rejection(medium.send('earth', message))).code).toBe('TIER_VIOLATION');
    await medium.send('venus', message);
  });

  it('says that the system has stopped', async () => {
    const { medium, stops } = mediumOf({ venus: 'SYSTEM_STOPPED' });
    expect((await rejection(medium.publish(await aMessage()))).code).toBe('SYSTEM_STOPPED');
    expect(stops()).toBe(1);
  });

  it('gives what came before somebody listened, in order and ahead of what is newer', async () => {
    const { medium } = mediumOf({});
    const message = await aMessage();
    const heard: string[] = [];
    for (const operationId of ['1', '2']) medium.receive({ ...message, operationId });
    medium.onMessage((arrived) => heard.push((arrived as SyncMessage).operationId));
    medium.receive({ ...message, operationId: '3' });
    expect(heard).toEqual([]);
    await turns();
    medium.receive({ ...message, operationId: '4' });
    expect(heard).toEqual(['1', '2', '3', '4']);
    await medium.close();
    medium.receive({ ...message, operationId: '5' });
    expect(heard).toHaveLength(4);
  });
});

describe('What comes for a document that is not open yet', () => {
  it('is held in order, apart from answers, and given to its own document once', async () => {
    const message = await aMessage();
    const early = new EarlyMessages();
    for (const channelId of ['plan', 'other', 'plan']) early.hold({ ...message, channelId });
    early.hold({ ...message, channelId: 'plan', kind: 'state' });
    expect(early.take('plan').map(({ channelId, kind }) => [channelId, kind])).toEqual([
      ['plan', 'update'],
      ['plan', 'update'],
    ]);
    expect(early.take('plan')).toEqual([]);
    expect(early.take('other')).toHaveLength(1);
  });

  it('is bounded in number and bytes: the oldest go', async () => {
    const message = await aMessage();
    const early = new EarlyMessages();
    for (let n = 0; n < 100; n++) early.hold({ ...message, operationId: String(n) });
    const held = early.take(CHANNEL);
    expect(held).toHaveLength(64);
    expect(held[0]?.operationId).toBe('36');
    for (let n = 0; n < 10; n++)
      early.hold({ ...message, operationId: String(n), payload: new Uint8Array(1 << 20) });
    expect(early.take(CHANNEL).map(({ operationId }) => operationId)).toEqual(['6', '7', '8', '9']);
  });
});
