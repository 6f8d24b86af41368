import { describe, expect, it } from 'vitest';
import { forgetAgent, surveyAgents } from '../../../runtime/journal/journal-survey.ts';
import { letterRecord, readLetters } from '../../../runtime/journal/journalled-dead-letters.ts';
import { MemoryStore } from '../../../runtime/journal/memory-store.ts';
import { agentRecord, readAgentRecords } from '../../../runtime/journal/stored-agent-records.ts';
import { takenRecord } from '../../../runtime/journal/taken-ids.ts';
import { Mail, NO_ASK } from '../../../runtime/mailbox/mail.ts';
import { MailRecorder } from '../../../runtime/mailbox/mail-record.ts';
import type { DeadLetter } from '../../../runtime/protocol/dead-letter.ts';

const MANY = 5_000;
/** The beginnings of each other's names. */
const AGENTS = ['mars', 'mars-2', 'mar'];

const body = (timestamp: number): string =>
  new MailRecorder().record(
    new Mail(
      'x',
      '',
      0,
      'venus',
      'mars',
      undefined,
      timestamp,
      'ä',
      undefined,
      0,
      NO_ASK,
      undefined,
      undefined,
    ),
  );

/** Each agent has many envelopes, sent one after the other, and some of everything else. */
async function fullStore(): Promise<MemoryStore> {
  const store = new MemoryStore();
  const mails = Array.from({ length: MANY }, (_, at) =>
    AGENTS.map((recipient, which) => ({ recipient, body: body(1_000 * (which + 1) + at) })),
  ).flat();
  const letter: DeadLetter = {
    ...{ id: 'm', sender: 'venus', recipient: 'mars', type: 'request' },
    ...{ code: 'ACTOR_DIED', reason: 'it exited', atMs: 1 },
  };
  const records = AGENTS.flatMap((agent) => [
    agentRecord(agent, { kind: 'state', key: 'a', value: '1' }),
    agentRecord(agent, { kind: 'swarm', key: 'b\nc', value: '2' }),
    takenRecord({ agent, sender: 'venus', id: `${agent}~1`, answer: '' }),
  ]);
  const own = { kind: 'own/mission', key: 'mars', value: '1' };
  await store.write([{ mails, settled: [], records: [...records, letterRecord(1, letter), own] }]);
  return store;
}

describe('What a store keeps for whom', () => {
  it('is counted, each agent for itself', async () => {
    const kept = await surveyAgents(await fullStore());
    expect(
      kept.map(({ agentId, waiting, oldestSentAtMs, records, takenIds }) => [
        agentId,
        waiting,
        oldestSentAtMs,
        records,
        takenIds,
      ]),
    ).toEqual([
      ['mar', MANY, 3_000, 2, 1],
      ['mars', MANY, 1_000, 2, 1],
      ['mars-2', MANY, 2_000, 2, 1],
    ]);
    const first = Buffer.byteLength(body(1_000)) * MANY;
    expect(kept[1]?.bytes).toBe(
      first + Buffer.byteLength('mars\nstate\na1mars\nswarm\nb\nc2mars\nvenus\nmars~1'),
    );
  });

  it('is forgotten whole, and of no one else', async () => {
    const store = await fullStore();
    const before = await surveyAgents(store);
    expect(await forgetAgent(store, 'mars')).toEqual(before[1]);
    expect(await surveyAgents(store)).toEqual([before[0], before[2]]);
    expect(await readAgentRecords(store, 'mars')).toEqual([]);
    expect(await readLetters(store)).toHaveLength(1);
    expect(await store.records('own/mission', { limit: 9 })).toHaveLength(1);
    expect(await forgetAgent(store, 'mars')).toBeUndefined();
  });

  it('is nothing in a new one', async () => {
    expect(await surveyAgents(new MemoryStore())).toEqual([]);
  });
});
