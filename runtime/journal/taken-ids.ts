import { z } from 'zod';
import { Taint } from '../protocol/taint.ts';
import { recordsUnder } from './all-records.ts';
import type { RecordChange, Store } from '../protocol/store.ts';
import { jsonText, readRecord } from './record-schema.ts';

/**
 * An envelope with a derived id that an agent took: its sender may send it again after the end of the process.
 * `answer` is text of its own making, empty without one.
 */
export interface TakenId {
  readonly agent: string;
  readonly sender: string;
  readonly id: string;
  readonly answer: string;
}

/** What an agent answered under an id: kind, payload, reports, taint, and how many reports were dropped; or nothing is known. */
export const JournalledAnswer = z.union([
  z.literal(''),
  jsonText(
    z.tuple([
      z.int().nonnegative(),
      z.unknown(),
      z.array(z.unknown()).nullable().optional(),
      Taint.nullable().optional(),
      z.int().nonnegative().optional(),
    ]),
  ),
]);

/** Their keys begin with the agent. */
export const TAKEN_KIND = 'taken';
/** A separator that no agent's id contains. */
const BETWEEN = '\n';

const keyOf = ({ agent, sender, id }: Omit<TakenId, 'answer'>): string => [agent, sender, id].join(BETWEEN);

export const takenRecord = (taken: TakenId): RecordChange => ({
  kind: TAKEN_KIND,
  key: keyOf(taken),
  value: taken.answer,
});

export const forgottenRecord = (taken: Omit<TakenId, 'answer'>): RecordChange => ({
  kind: TAKEN_KIND,
  key: keyOf(taken),
  value: undefined,
});

/**
 * What the store knows that `agent` took, with what is `unwritten` as if the store had it. Fails with STORE_INVALID, naming the
 * record, where an answer is none.
 */
export async function readTaken(
  store: Store,
  agent: string,
  unwritten?: readonly RecordChange[],
): Promise<TakenId[]> {
  const found = await recordsUnder(store, { kind: TAKEN_KIND, prefix: agent + BETWEEN }, unwritten);
  return Array.from(found, ([key, answer]) => {
    const [, sender = '', ...rest] = key.split(BETWEEN);
    readRecord({ kind: TAKEN_KIND, key, value: answer }, JournalledAnswer);
    return { agent, sender, id: rest.join(BETWEEN), answer };
  });
}
