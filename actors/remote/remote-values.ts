import { isPartialArtifact } from '../../runtime/protocol/a2a-extension.ts';
import type { Artifact, Part, TaskMessage } from '../../runtime/protocol/task.ts';

type Json = Extract<Part, { data: unknown }>['data'];

/**
 * The parts by which an agent elsewhere is asked for a skill (C-38): one of Orrery by name, with its arguments; others get text
 * as text, and anything else as data.
 */
export function partsFor(skill: string, input: unknown, isOrrery: boolean): Part[] {
  if (isOrrery) return [{ data: { tool: skill, arguments: (input ?? null) as Json } }];
  if (typeof input === 'string') return [{ text: input }];
  return [{ data: (input ?? null) as Json }];
}

/** An answer to a question, as parts. */
export const answerParts = (answer: unknown): Part[] =>
  typeof answer === 'string' ? [{ text: answer }] : [{ data: (answer ?? null) as Json }];

/** What one part says: data as it is, text as text, and a file as what it is. */
export function valueOfPart(part: Part): unknown {
  if ('data' in part) return part.data;
  if ('text' in part) return part.text;
  const { mediaType = 'application/octet-stream', filename } = part;
  const name = filename === undefined ? {} : { filename };
  return 'raw' in part ? { bytes: part.raw, mediaType, ...name } : { url: part.url, mediaType, ...name };
}

/** Said with a last chunk when there is nothing else to say. */
export const isNothing = (part: Part): boolean => 'text' in part && part.text === '';

/** What parts say together: one value, one text, or the values of all. */
export function valueOfParts(parts: readonly Part[]): unknown {
  const said = parts.filter((part) => !isNothing(part));
  const [first, ...others] = said;
  if (first === undefined) return parts.length === 0 ? undefined : '';
  if (others.length === 0) return valueOfPart(first);
  if (said.every((part) => 'text' in part))
    return said.map((part) => ('text' in part ? part.text : '')).join('');
  return said.map(valueOfPart);
}

/** What a task has come to: its artifacts, or what was said with its end. */
export function resultOf(artifacts: readonly Artifact[], message: TaskMessage | undefined): unknown {
  const parts = artifacts
    .filter((artifact) => !isPartialArtifact(artifact))
    .flatMap((artifact) => artifact.parts);
  return valueOfParts(parts.length > 0 ? parts : (message?.parts ?? []));
}

/** What is said in words. */
export function textOf(message: TaskMessage | undefined): string | undefined {
  const texts = (message?.parts ?? []).flatMap((part) =>
    'text' in part && part.text !== '' ? [part.text] : [],
  );
  return texts.length === 0 ? undefined : texts.join('\n');
}
