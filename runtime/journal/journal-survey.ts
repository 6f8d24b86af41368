import { sentAtMsOf } from '../mailbox/mail-record.ts';
import type { NumberedMail, RecordChange, Store, StoredRecord } from '../protocol/store.ts';
import { allRecords } from './all-records.ts';
import { AGENT_KIND } from './stored-agent-records.ts';
import { TAKEN_KIND } from './taken-ids.ts';

/**
 * What a journal keeps for one agent.
 *
 * - `waiting`        envelopes without a known outcome.
 * - `oldestSentAtMs` when the oldest of them was sent, Unix milliseconds; absent when none waits.
 * - `records`        pieces of its state, and of its negotiations, swarms and documents.
 * - `takenIds`       ids under which it took what may be sent to it again.
 * - `bytes`          all of that, as it was written.
 */
export interface JournalledAgent {
  readonly agentId: string;
  readonly waiting: number;
  readonly oldestSentAtMs?: number;
  readonly records: number;
  readonly takenIds: number;
  readonly bytes: number;
}

const PAGE = 1_000;
/** Numbers and keys of one write. */
const CHUNK = 4_096;
/** A separator that no agent's id contains. */
const BETWEEN = '\n';
/** Of these kinds the keys begin with the agent. */
const KINDS = [
  [AGENT_KIND, 'records'],
  [TAKEN_KIND, 'takenIds'],
] as const;

/** For whom a store keeps something, and how much; by id. */
export async function surveyAgents(store: Store): Promise<readonly JournalledAgent[]> {
  const agents = new Map<string, Count>();
  const of = (agentId: string): Count => {
    const known = agents.get(agentId);
    if (known !== undefined) return known;
    const count = { agentId, waiting: 0, records: 0, takenIds: 0, bytes: 0 };
    agents.set(agentId, count);
    return count;
  };
  for await (const { recipient, body } of allMails(store)) {
    const count = of(recipient);
    count.waiting += 1;
    count.bytes += Buffer.byteLength(body);
    const sentAtMs = sentAtMsOf(body);
    if (sentAtMs !== undefined && sentAtMs < (count.oldestSentAtMs ?? Infinity))
      count.oldestSentAtMs = sentAtMs;
  }
  for (const [kind, counted] of KINDS) {
    for await (const record of allRecords(store, kind)) {
      const count = of(agentIn(record));
      count[counted] += 1;
      count.bytes += Buffer.byteLength(record.key) + Buffer.byteLength(record.value);
    }
  }
  return [...agents.values()].sort((one, other) => (one.agentId < other.agentId ? -1 : 1));
}

/**
 * Deletes everything that a store keeps for an agent; its dead letters, which say what became of envelopes, stay. Resolves
 * to what there was; undefined when there was nothing.
 */
export async function forgetAgent(store: Store, agentId: string): Promise<JournalledAgent | undefined> {
  const kept = (await surveyAgents(store)).find((one) => one.agentId === agentId);
  if (kept === undefined) return undefined;
  const settled: number[] = [];
  for await (const { recipient, number } of allMails(store)) if (recipient === agentId) settled.push(number);
  const records: RecordChange[] = [];
  for (const [kind] of KINDS)
    for await (const record of allRecords(store, kind, agentId + BETWEEN)) {
      if (agentIn(record) !== agentId) break;
      records.push({ kind, key: record.key, value: undefined });
    }
  const chunks = Math.ceil(Math.max(settled.length, records.length) / CHUNK);
  for (let at = 0; at < chunks; at++) {
    const part = [at * CHUNK, (at + 1) * CHUNK] as const;
    await store.write([{ mails: [], settled: settled.slice(...part), records: records.slice(...part) }]);
  }
  return kept;
}

type Count = { -readonly [Field in keyof JournalledAgent]: JournalledAgent[Field] };

const agentIn = ({ key }: StoredRecord): string => key.slice(0, key.indexOf(BETWEEN));

async function* allMails(store: Store): AsyncGenerator<NumberedMail> {
  for (let after = 0; ; ) {
    const page = await store.mails({ after, limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    after = (page.at(-1) as NumberedMail).number;
  }
}
