import { ProcessIdentity } from '../os/process-identity.ts';
import { jsonOf } from '../protocol/json.ts';
import type { RecordChange, Store } from '../protocol/store.ts';
import { allRecords } from './all-records.ts';

const KIND = 'processes';

/** A number may be given again before everybody knows that its process is gone: the start belongs to the key. */
const keyOf = ({ pid, start }: ProcessIdentity): string => `${pid}-${start}`;

export const processRecord = (process: ProcessIdentity): RecordChange => ({
  kind: KIND,
  key: keyOf(process),
  value: JSON.stringify(process),
});

export const goneRecord = (process: ProcessIdentity): RecordChange => ({
  kind: KIND,
  key: keyOf(process),
  value: undefined,
});

/** The processes that a store knows of. What cannot be read names none, and is left out. */
export async function readProcesses(store: Pick<Store, 'records'>): Promise<ProcessIdentity[]> {
  const found: ProcessIdentity[] = [];
  for await (const { value } of allRecords(store, KIND)) {
    const parsed = ProcessIdentity.safeParse(jsonOf(value));
    if (parsed.success) found.push(parsed.data);
  }
  return found;
}
