import type { JsonPlace } from './json-places.ts';

/** A part of a text, from `start` up to `end`, and what takes its place. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The edit that gives a field of an object a value, and changes nothing else; undefined if it has it. */
export function setField(
  text: string,
  object: JsonPlace,
  { field, value }: { readonly field: string; readonly value: string | boolean },
): TextEdit | undefined {
  const wanted = JSON.stringify(value);
  const there = object.fields?.get(field);
  if (there !== undefined) {
    const { start, end } = there;
    return text.slice(start, end) === wanted ? undefined : { start, end, text: wanted };
  }
  const lead = /^\s*/.exec(text.slice(object.start + 1))?.[0] ?? '';
  const last = Math.max(...[...(object.fields?.values() ?? [])].map(({ end }) => end));
  const colon = lead === '' ? ':' : ': ';
  return { start: last, end: last, text: `,${lead}${JSON.stringify(field)}${colon}${wanted}` };
}

/** A text after edits that do not overlap. */
export const edited = (text: string, edits: readonly TextEdit[]): string =>
  edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((now, edit) => `${now.slice(0, edit.start)}${edit.text}${now.slice(edit.end)}`, text);
