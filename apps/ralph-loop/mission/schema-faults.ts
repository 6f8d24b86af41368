import type { z } from 'zod';
import { CodingProgram, Mission, MissionCode, MissionGate, MissionLimits, MissionTask } from './mission.ts';
import { nearest } from './nearest.ts';

/**
 * Describes each issue of a failed parse in a line: the field, its value, and what was expected. `whole` stands for the input
 * itself.
 */
export function schemaFaults(error: z.ZodError, input: unknown, whole = 'the file'): string[] {
  return error.issues
    .flatMap(withinUnion)
    .flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => unknownField([...issue.path, key], input))
        : [`${fieldName(issue.path) || whole}: ${expectation(issue)}${found(issue, input)}`],
    );
}

/** The issues of the one form of a field that its value has the kind of; else that it has none of them. */
function withinUnion(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const near = issue.errors.filter((issues) =>
    issues.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys'),
  );
  const [only, ...others] = near;
  if (only === undefined || others.length > 0) return [issue];
  return only.flatMap((inner) => withinUnion({ ...inner, path: [...issue.path, ...inner.path] }));
}

const KNOWN_FIELDS: readonly string[] = [
  Mission,
  MissionLimits,
  MissionCode,
  MissionGate,
  MissionTask,
  CodingProgram,
].flatMap(({ shape }) => Object.keys(shape));

function unknownField(path: readonly PropertyKey[], input: unknown): string {
  const name = String(path.at(-1));
  // A field may be known elsewhere.
  const meant = nearest(
    name,
    KNOWN_FIELDS.filter((known) => known !== name),
  );
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  return `${fieldName(path)}: unknown field with value ${quote(valueAt(path, input))}${hint}`;
}

const expectation = (issue: z.core.$ZodIssue): string =>
  issue.message.replace(/^Invalid input: /, '').replace(/, received \w+$/, '');

function found(issue: z.core.$ZodIssue, input: unknown): string {
  const value = valueAt(issue.path, input);
  return value === undefined ? ', but it is missing' : `, found ${quote(value)}`;
}

/** The name of a field, such as `tasks[2].dependsOn[0]`. */
function fieldName(path: readonly PropertyKey[]): string {
  const name = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return name.replace(/^\./, '');
}

const valueAt = (path: readonly PropertyKey[], input: unknown): unknown =>
  path.reduce<unknown>((value, part) => (value as Record<PropertyKey, unknown> | undefined)?.[part], input);

const MAX_QUOTED = 80;

function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}...` : text;
}
