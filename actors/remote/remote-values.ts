import { isPartialArtifact } from '../../runtime/protocol/a2a-extension.ts';
import type { Artifact, Part, TaskMessage } from '../../runtime/protocol/task.ts';

type Json = Extract<Part, { data: unknown }>['data'];

/**
 * The parts of a request for a skill (C-38). Orrery gets the name of the skill with the arguments; others get a text part for
 * a string, and a data part for anything else.
 */
export function partsFor(skill: string, input: unknown, isOrrery: boolean): Part[] {
  if (isOrrery) return [{ data: { tool: skill, arguments: (input ?? null) as Json } }];
  if (typeof input === 'string') return [{ text: input }];
  return [{ data: (input ?? null) as Json }];
}

/** The parts of an answer to a question. */
export const answerParts = (answer: unknown): Part[] =>
  typeof answer === 'string' ? [{ text: answer }] : [{ data: (answer ?? null) as Json }];

/** The value of a part: data, text, or `{bytes | url, mediaType, filename?}` for a file. `bytes` is base64. */
export function valueOfPart(part: Part): unknown {
  if ('data' in part) return part.data;
  if ('text' in part) return part.text;
  const { mediaType = 'application/octet-stream', filename } = part;
  const name = filename === undefined ? {} : { filename };
  return 'raw' in part ? { bytes: part.raw, mediaType, ...name } : { url: part.url, mediaType, ...name };
}

/** Whether a part is an empty text, which ends a stream. */
export const isNothing = (part: Part): boolean => 'text' in part && part.text === '';

/** The value of several parts: one value, the texts joined, or a list of values. */
export function valueOfParts(parts: readonly Part[]): unknown {
  const said = parts.filter((part) => !isNothing(part));
  const [first, ...others] = said;
  if (first === undefined) return parts.length === 0 ? undefined : '';
  if (others.length === 0) return valueOfPart(first);
  if (said.every((part) => 'text' in part))
    return said.map((part) => ('text' in part ? part.text : '')).join('');
  return said.map(valueOfPart);
}

/** The result of a task: its artifacts, or else its last message. */
export function resultOf(artifacts: readonly Artifact[], message: TaskMessage | undefined): unknown {
  const parts = artifacts
    .filter((artifact) => !isPartialArtifact(artifact))
    .flatMap((artifact) => artifact.parts);
  return valueOfParts(parts.length > 0 ? parts : (message?.parts ?? []));
}

/** The texts of a message, one a line; undefined if it has none. */
export function textOf(message: TaskMessage | undefined): string | undefined {
  const texts = (message?.parts ?? []).flatMap((part) =>
    'text' in part && part.text !== '' ? [part.text] : [],
  );
  return texts.length === 0 ? undefined : texts.join('\n');
}
