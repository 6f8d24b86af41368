import { z } from 'zod';
import { FreshJson, FreshJsonFields } from '../../../runtime/protocol/json-value.ts';
import type { Part, TaskMessage, TaskState } from '../../../runtime/protocol/task.ts';
import type { Json } from './json.ts';

/** Base64 in either alphabet, padded or not, as the standard alphabet with its padding. */
const Base64 = z
  .string()
  .regex(/^[A-Za-z0-9+/_-]*={0,2}$/, 'a text in base64')
  .transform((text) => Buffer.from(text, 'base64').toString('base64'));

/** What is left out, or null: older clients write null for what they have not got. */
export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

const Tag = optional(z.enum(['text', 'file', 'data']));

const WiredFile = z.object({
  name: optional(z.string()),
  mimeType: optional(z.string()),
  bytes: optional(Base64),
  uri: optional(z.url()),
  fileWithBytes: optional(Base64),
  fileWithUri: optional(z.url()),
});
type WiredFile = z.output<typeof WiredFile>;

const WiredPart = z.object({
  kind: Tag,
  type: Tag,
  text: optional(z.string()),
  file: optional(WiredFile),
  data: FreshJson.optional(),
  raw: optional(Base64),
  url: optional(z.url()),
  mediaType: optional(z.string()),
  filename: optional(z.string()),
  metadata: optional(FreshJsonFields),
});
type WiredPart = z.output<typeof WiredPart>;

/** Stands in the metadata of a data part whose value is no object: what the part carries is `{value}`. */
const WRAPPED = 'data_part_compat';

/**
 * A part as any dialect writes it (C-03): named by `kind` or `type` (`text`, `file` with `bytes` or `uri`, `data`), or by the
 * one member that it has (`text`, `raw`, `url`, `data`, `file`).
 */
export const AnyPart = WiredPart.transform((wired, context): Part => {
  const tag = wired.kind ?? wired.type;
  const part = tag === undefined ? untagged(wired) : tagged(wired, tag);
  if (typeof part !== 'string') return part;
  context.addIssue({ code: 'custom', message: `expected ${part}` });
  return z.NEVER;
});

/** Each part is looked into one by one, which costs more than its bytes do. */
const MOST_PARTS = 1_000;

/** Those of a message that somebody sends, by the schema of one: counted before any of them is looked into. */
export const sentParts = <Schema extends z.ZodType<Part>>(schema: Schema) =>
  z.array(z.unknown()).min(1).max(MOST_PARTS).pipe(z.array(schema));

/** The part, or what would have been one. */
function tagged(wired: WiredPart, tag: 'text' | 'file' | 'data'): Part | string {
  const metadata = defined({ metadata: wired.metadata });
  switch (tag) {
    case 'text':
      return wired.text === undefined ? 'a part of kind text with text' : { text: wired.text, ...metadata };
    case 'file':
      return wired.file === undefined ? 'a part of kind file with a file' : ofFile(wired.file, metadata);
    case 'data':
      return wired.data === undefined ? 'a part of kind data with data' : ofData(wired.data, wired.metadata);
  }
}

function untagged({ text, raw, url, data, file, mediaType, filename, metadata }: WiredPart): Part | string {
  const members = [text, raw, url, data, file].filter((member) => member !== undefined);
  if (members.length !== 1) return 'exactly one of text, raw, url, data and file, or a kind';
  const facts = defined({ mediaType, filename, metadata });
  if (text !== undefined) return { text, ...facts };
  if (raw !== undefined) return { raw, ...facts };
  if (url !== undefined) return { url, ...facts };
  if (file !== undefined) return ofFile(file, defined({ metadata }));
  return { data: data as z.core.util.JSONType, ...facts };
}

function ofFile(file: WiredFile, metadata: Pick<Part, 'metadata'>): Part | string {
  const raw = file.bytes ?? file.fileWithBytes;
  const url = file.uri ?? file.fileWithUri;
  const facts = { ...defined({ mediaType: file.mimeType, filename: file.name }), ...metadata };
  if (raw !== undefined && url === undefined) return { raw, ...facts };
  if (url !== undefined && raw === undefined) return { url, ...facts };
  return 'a file with either bytes or a uri';
}

function ofData(data: z.core.util.JSONType, metadata: Part['metadata']): Part {
  const { [WRAPPED]: isWrapped, ...rest } = metadata ?? {};
  if (isWrapped !== true) return { data, ...defined({ metadata }) };
  const isHolder = typeof data === 'object' && data !== null && !Array.isArray(data) && 'value' in data;
  const value = isHolder ? (data['value'] as z.core.util.JSONType) : data;
  return { data: value, ...(Object.keys(rest).length === 0 ? {} : { metadata: rest }) };
}

/**
 * A part as the older dialects have it, named by `tag`. A file has a name and a type there, text and data have not: what
 * they have of these is left out. Data that is no object is carried as `{value}`.
 */
export function writeTagged(part: Part, tag: 'kind' | 'type'): Json {
  const metadata = defined({ metadata: part.metadata });
  if ('text' in part) return { [tag]: 'text', text: part.text, ...metadata };
  if ('data' in part) return { [tag]: 'data', ...objectOf(part) };
  const file = defined({ name: part.filename, mimeType: part.mediaType });
  const content = 'raw' in part ? { bytes: part.raw } : { uri: part.url };
  return { [tag]: 'file', file: { ...file, ...content }, ...metadata };
}

/** The data as the object that older dialects want, and the metadata that says so. */
export function objectOf({ data, metadata }: Extract<Part, { data: unknown }>): {
  readonly data: { readonly [key: string]: Json };
  readonly metadata?: { readonly [key: string]: Json };
} {
  if (typeof data === 'object' && data !== null && !Array.isArray(data))
    return { data, ...defined({ metadata }) };
  return { data: { value: data }, metadata: { ...metadata, [WRAPPED]: true } };
}

type Defined<Fields> = { [Field in keyof Fields]?: Exclude<Fields[Field], undefined> };

/** The fields that have a value. */
export function defined<Fields extends Record<string, unknown>>(fields: Fields): Defined<Fields> {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) if (fields[name] !== undefined) kept[name] = fields[name];
  return kept as Defined<Fields>;
}

/** Task states as the enum of A2A 1.0 has them, by its numbers. */
export const STATE_NAMES = {
  submitted: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  canceled: 'TASK_STATE_CANCELED',
  'input-required': 'TASK_STATE_INPUT_REQUIRED',
  rejected: 'TASK_STATE_REJECTED',
  'auth-required': 'TASK_STATE_AUTH_REQUIRED',
} as const satisfies Record<TaskState, string>;

/** The enum's numbers, which ProtoJSON takes for names as well; 0 says nothing. */
export const STATES_BY_NUMBER: readonly (TaskState | undefined)[] = [
  undefined,
  ...(Object.keys(STATE_NAMES) as TaskState[]),
];

export const ROLE_NAMES = {
  user: 'ROLE_USER',
  agent: 'ROLE_AGENT',
} as const satisfies Record<TaskMessage['role'], string>;

/** As `STATES_BY_NUMBER`. */
export const ROLES_BY_NUMBER: readonly (TaskMessage['role'] | undefined)[] = [undefined, 'user', 'agent'];
