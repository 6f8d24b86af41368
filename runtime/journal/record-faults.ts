import type { z } from 'zod';
import type { StoredRecord } from '../protocol/store.ts';
import { STARTS, Starts } from './backlog.ts';
import { JournalledDeadLetter, LETTER_KIND } from './journalled-dead-letters.ts';
import { RUN, Run, SPENT, Spent } from './journalled-spends.ts';
import { faultOf, jsonText } from './record-schema.ts';
import { JournalledAnswer, TAKEN_KIND } from './taken-ids.ts';

/** Of the kinds that the journal has to read before a system starts. What else cannot be read is left out there, and told. */
const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  [LETTER_KIND]: jsonText(JournalledDeadLetter),
  [RUN]: jsonText(Run),
  [SPENT]: jsonText(Spent),
  [STARTS]: Starts,
  [TAKEN_KIND]: JournalledAnswer,
};

/**
 * What is wrong with a record whose checksum is right, naming it and the field; undefined: nothing, or nobody here knows what it
 * should be.
 */
export function recordFault(record: StoredRecord): string | undefined {
  const schema = Object.hasOwn(SCHEMAS, record.kind) ? SCHEMAS[record.kind] : undefined;
  return schema && faultOf(record, schema);
}
