import type { RecordChange, Store } from '../protocol/store.ts';
import { allRecords } from './all-records.ts';

/** What one agent keeps: a piece of state, as text, of this kind and under this key. */
export interface StoredAgentRecord {
  readonly kind: string;
  readonly key: string;
  readonly value: string;
}

/** Their keys begin with the agent. */
export const AGENT_KIND = 'agent';
/** Stands in no agent's id, and in the name of no kind. */
const BETWEEN = '\n';

/** `value` undefined: the record is deleted. */
export const agentRecord = (
  agent: string,
  { kind, key, value }: Omit<StoredAgentRecord, 'value'> & { readonly value: string | undefined },
): RecordChange => ({ kind: AGENT_KIND, key: [agent, kind, key].join(BETWEEN), value });

/** All that the store has of this agent, or of one kind of that, by kind and key. */
export async function readAgentRecords(
  store: Pick<Store, 'records'>,
  agent: string,
  onlyKind?: string,
): Promise<StoredAgentRecord[]> {
  const prefix = [agent, ...(onlyKind === undefined ? [] : [onlyKind]), ''].join(BETWEEN);
  const found: StoredAgentRecord[] = [];
  for await (const { key, value } of allRecords(store, AGENT_KIND, prefix)) {
    if (!key.startsWith(prefix)) break;
    const [, kind = '', ...rest] = key.split(BETWEEN);
    found.push({ kind, key: rest.join(BETWEEN), value });
  }
  return found;
}
