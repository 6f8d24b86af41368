/**
 * A task as a format of others has it.
 *
 * - `key`       its id there, which may be anything.
 * - `priority`  at least 1; 1 goes first.
 * - `dependsOn` keys of others.
 * - `state`     `open`, `done`, or `put-off`: it is not to be worked on, and neither is what waits for it.
 * - `place`     where it stands, for a reader.
 */
export interface ForeignTask {
  readonly key: string;
  readonly title: string;
  readonly description?: string;
  readonly acceptance?: readonly string[];
  readonly priority?: number;
  readonly dependsOn: readonly string[];
  readonly state: 'open' | 'done' | 'put-off';
  readonly place: string;
}

/** The tasks that a text of some format has. `name` is missing where the text says none. */
export interface ForeignMission {
  readonly name?: string;
  readonly description?: string;
  readonly branch?: string;
  readonly tasks: readonly ForeignTask[];
}

/** What a text has, or everything that is wrong with it. */
export type ForeignText = { readonly mission: ForeignMission } | { readonly faults: readonly string[] };

/** Faults for keys that come twice. What is written back would go to the wrong task. */
export function repeatedKeys(tasks: readonly ForeignTask[]): string[] {
  const first = new Map<string, string>();
  return tasks.flatMap(({ key, place }) => {
    const before = first.get(key);
    if (before !== undefined) return [`${place}: "${key}" is already the id of ${before}`];
    first.set(key, place);
    return [];
  });
}

/** The sentences of a text that is said of a task, without empty ones; undefined if there are none. */
export function joined(...parts: readonly (string | undefined)[]): string | undefined {
  const said = parts.flatMap((part) => (part === undefined || part.trim() === '' ? [] : [part.trim()]));
  return said.length === 0 ? undefined : said.join('\n\n');
}

/** Fields without those that are undefined. */
export const given = <Field extends string, Value>(field: Field, value: Value | undefined) =>
  (value === undefined ? {} : { [field]: value }) as { readonly [Name in Field]?: Value };
