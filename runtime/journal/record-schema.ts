import { z } from 'zod';
import { storeInvalid } from '../protocol/errors.ts';
import { jsonOf } from '../protocol/json.ts';
import { faultsOf } from '../protocol/payload-faults.ts';
import type { StoredRecord } from '../protocol/store.ts';

/** What to do about a journal that is damaged. */
export const wayOut = (file: string): string =>
  `"orrery journal ${file} --check" says what is damaged, and "--salvage NEW" in its place gets out what is whole`;

/** A record's text, which is JSON of this. */
export const jsonText = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .string()
    .transform((text) => jsonOf(text))
    .pipe(schema);

/** What is wrong with a record that is to be of this schema, naming the record and the field; undefined: nothing is. */
export function faultOf({ kind, key, value }: StoredRecord, schema: z.ZodType): string | undefined {
  const { error } = schema.safeParse(value);
  if (error === undefined) return undefined;
  return `its record ${kind} ${JSON.stringify(key)} is not what was written: ${faultsOf(error, jsonOf(value) ?? value)}`;
}

/** What a record says. Fails with STORE_INVALID, naming the record and the field, where it says nothing of this schema. */
export function readRecord<Schema extends z.ZodType>(
  record: StoredRecord,
  schema: Schema,
  file = 'journal',
): z.output<Schema> {
  const fault = faultOf(record, schema);
  if (fault === undefined) return schema.parse(record.value);
  throw storeInvalid(file, `it is damaged (${fault}). ${wayOut(file)}`, { damage: [fault] });
}
