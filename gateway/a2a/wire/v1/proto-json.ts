import { z } from 'zod';
import { FreshJsonFields } from '../../../../runtime/protocol/json-value.ts';
import type { TaskMessage, TaskState } from '../../../../runtime/protocol/task.ts';
import { ROLE_WORDS, ROLES_BY_NUMBER, STATE_WORDS, STATES_BY_NUMBER } from '../enum-words.ts';

/**
 * An object of ProtoJSON: its fields in camelCase or as the proto file names them (`context_id`), null for a field that is
 * left out, and fields that nobody knows ignored.
 */
export const message = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.preprocess(camelFields, z.object(shape));

/** The object with its own fields in camelCase and without those that are null; `kept` may be null. */
export function camelFields(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    const known = camelCase(name);
    // Of a field that is there by both names the one in camelCase counts.
    if (known !== name && Object.hasOwn(value, known)) continue;
    // A data part may hold null: that is its value.
    if (field !== null || known === 'data') fields[known] = field;
  }
  return fields;
}

const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_whole, letter: string) => letter.toUpperCase());

/** Text; in proto an empty one is one that is left out. */
export const text = z
  .string()
  .optional()
  .transform((value) => (value === '' ? undefined : value));

/** A number without fraction, as a number or in text, as ProtoJSON writes long ones. */
export const integer = z
  .union([z.int(), z.string().regex(/^-?\d{1,15}$/, 'expected an integer')])
  .transform(Number);

export const count = integer.pipe(z.int().nonnegative());

/** A moment in RFC 3339, as Unix milliseconds. */
export const moment = z.iso.datetime({ offset: true }).transform((iso) => Date.parse(iso));

/** Anything that JSON can say, by name. */
export const struct = FreshJsonFields;

/** Names, an empty list being none. */
export const names = z.array(z.string()).default([]);

/** An enum's name or number; what stands for "unspecified" is undefined. */
const wordOf = <Value extends string>(
  words: Readonly<Record<Value, string>>,
  byNumber: readonly (Value | undefined)[],
  unspecified: string,
) =>
  z.union([z.string(), z.number()]).transform((said, context): Value | undefined => {
    if (said === unspecified || said === 0) return undefined;
    const found =
      typeof said === 'number'
        ? byNumber[said]
        : (Object.keys(words) as Value[]).find((value) => words[value] === said);
    if (found !== undefined) return found;
    context.addIssue({
      code: 'custom',
      message: `one of ${Object.values(words).join(', ')}`,
      input: said,
    });
    return z.NEVER;
  });

export const state = wordOf<TaskState>(STATE_WORDS, STATES_BY_NUMBER, 'TASK_STATE_UNSPECIFIED');
export const role = wordOf<TaskMessage['role']>(ROLE_WORDS, ROLES_BY_NUMBER, 'ROLE_UNSPECIFIED');
