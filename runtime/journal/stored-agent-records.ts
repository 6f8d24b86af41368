import type { RecordChange, Store } from '../protocol/store.ts';
import { allRecords } from './all-records.ts';

/** What one agent keeps: a piece of state, as text, of this kind and under this key. */
export interface AgentRecord {
  readonly kind: string;
  readonly key: string;
  readonly value: string;
}

const KIND = 'agent';
/** Stands in no agent's id, and in the name of no kind. */
const BETWEEN = '\n';

/** `value` undefined: the record is deleted. */
export const agentRecord = (
  agent: string,
  { kind, key, value }: Omit<AgentRecord, 'value'> & { readonly value: string | undefined },
): RecordChange => ({ kind: KIND, key: [agent, kind, key].join(BETWEEN), value });

/** All that the store has of this agent, by kind and key. */
export async function readAgentRecords(store: Pick<Store, 'records'>, agent: string): Promise<AgentRecord[]> {
  const prefix = agent + BETWEEN;
  const found: AgentRecord[] = [];
  for await (const { key, value } of allRecords(store, KIND, prefix)) {
    if (!key.startsWith(prefix)) break;
    const [, kind = '', ...rest] = key.split(BETWEEN);
    found.push({ kind, key: rest.join(BETWEEN), value });
  }
  return found;
}
