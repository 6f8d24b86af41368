import type { RecordChange, Store } from '../protocol/store.ts';
import { recordsUnder } from './all-records.ts';

/** One record of an agent: text, by kind and key. */
export interface StoredAgentRecord {
  readonly kind: string;
  readonly key: string;
  readonly value: string;
}

/** Their keys begin with the agent. */
export const AGENT_KIND = 'agent';
/** A separator that no agent's id and no kind contains. */
const BETWEEN = '\n';

/** `value` undefined: the record is deleted. */
export const agentRecord = (
  agent: string,
  { kind, key, value }: Omit<StoredAgentRecord, 'value'> & { readonly value: string | undefined },
): RecordChange => ({ kind: AGENT_KIND, key: [agent, kind, key].join(BETWEEN), value });

/**
 * All that the store has of this agent, or of one kind of that, by kind and key; with what is `unwritten` as if the store
 * had it.
 */
export async function readAgentRecords(
  store: Pick<Store, 'records'>,
  agent: string,
  {
    kind: onlyKind,
    unwritten,
  }: { readonly kind?: string; readonly unwritten?: readonly RecordChange[] } = {},
): Promise<StoredAgentRecord[]> {
  const prefix = [agent, ...(onlyKind === undefined ? [] : [onlyKind]), ''].join(BETWEEN);
  const found = await recordsUnder(store, { kind: AGENT_KIND, prefix }, unwritten);
  return Array.from(found, ([key, value]) => {
    const [, kind = '', ...rest] = key.split(BETWEEN);
    return { kind, key: rest.join(BETWEEN), value };
  });
}
