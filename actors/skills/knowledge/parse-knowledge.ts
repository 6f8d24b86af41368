import { type Document, isAlias, isScalar, parseDocument, visit } from 'yaml';
import { z } from 'zod';
import { reasonOf } from '../../../runtime/protocol/errors.ts';
import { faultsOf } from '../../../runtime/protocol/payload-faults.ts';
import { compileRule } from '../rules/compile-rule.ts';
import { rulesOf } from './constraint.ts';
import { KnowledgeDocument } from './knowledge-document.ts';

/** A file of knowledge in UTF-8 is no larger, bytes. */
export const MOST_FILE_BYTES = 256 * 1024;
/** YAML at the head of a file is no longer, characters: what it takes to read grows with its square. */
const MOST_FRONT = 16_384;
const MOST_FAULTS = 20;

const OPENING = /^\uFEFF?---[ \t]*\r?\n/;
const CLOSING = /\n---[ \t]*(?:\r?\n|$)/g;

/** A document that a file holds. */
export type KnowledgeFile = KnowledgeDocument & { readonly id: string };

/** What a file holds, or what is wrong with it, in sentences that name field and value. */
export type ParsedKnowledge =
  | { readonly item: KnowledgeFile; readonly faults?: undefined }
  | { readonly item?: undefined; readonly faults: readonly KnowledgeFault[] };

export interface KnowledgeFault {
  readonly file: string;
  readonly message: string;
}

/** Reads Markdown whose head says in YAML what it is. An item without an id has one after its path. */
export function parseKnowledge(path: string, text: string): ParsedKnowledge {
  const faults = (...messages: readonly string[]): ParsedKnowledge => ({
    faults: messages.slice(0, MOST_FAULTS).map((message) => ({ file: path, message })),
  });
  const parts = partsOf(text);
  if (typeof parts === 'string') return faults(parts);
  const front = readFront(parts.front);
  if (typeof front === 'string') return faults(front);
  const { data, error } = KnowledgeDocument.safeParse(
    { id: idOf(path), ...front, ...constraintsOf(front), content: parts.content },
    { reportInput: true },
  );
  if (error !== undefined) return faults(...error.issues.map((issue) => faultOf(issue, front)));
  const item = { ...data, id: data.id as string };
  const broken = brokenRules(item);
  return broken.length > 0 ? faults(...broken) : { item };
}

const partsOf = (text: string): { front: string; content: string } | string => {
  const opening = OPENING.exec(text);
  if (opening === null) return 'it does not begin with YAML between two lines of ---, which says what it is';
  // The line before the closing one may be the opening one.
  CLOSING.lastIndex = opening[0].length - 1;
  const closing = CLOSING.exec(text);
  if (closing === null) return 'the YAML at its head is not closed by a line of ---';
  const front = text.slice(opening[0].length, closing.index + 1);
  if (front.length > MOST_FRONT)
    return `the YAML at its head has ${front.length} characters, expected at most ${MOST_FRONT}`;
  return { front, content: text.slice(closing.index + closing[0].length) };
};

type Front = Readonly<Record<string, unknown>>;

/** What the YAML says; or what is wrong with it. */
function readFront(text: string): Front | string {
  try {
    const document = parseDocument(text, {
      version: '1.2',
      schema: 'core',
      stringKeys: true,
      // Silent, it would leave out what stands behind the end of a document.
      logLevel: 'error',
    });
    const [first] = [...document.errors, ...document.warnings];
    if (first !== undefined) return `the YAML at its head cannot be read: ${firstLine(first.message)}`;
    const unwanted = unwantedIn(document);
    if (unwanted !== undefined) return `the YAML at its head has ${unwanted}, expected none`;
    const front: unknown = document.toJS({ maxAliasCount: 0 });
    if (typeof front !== 'object' || front === null || Array.isArray(front))
      return 'the YAML at its head has no fields';
    if ('content' in front) return 'content is in the YAML at its head, expected behind it';
    return front as Front;
  } catch (error) {
    return `the YAML at its head cannot be read: ${firstLine(reasonOf(error))}`;
  }
}

const firstLine = (message: string): string => message.replace(/:?\n.*$/s, '');

/** What multiplies itself, and what would be left out without a word. */
function unwantedIn(document: Document): string | undefined {
  let found: string | undefined;
  visit(document, {
    Node: (_key, node) => {
      if (!isAlias(node) && node.anchor === undefined) return undefined;
      found = 'an anchor or an alias (& or *)';
      return visit.BREAK;
    },
    Pair: (_key, { key }) => {
      if (!isScalar(key) || key.value !== '__proto__') return undefined;
      found = 'a field __proto__';
      return visit.BREAK;
    },
  });
  return found;
}

/** In a file the value of a constraint may be called its pattern. */
function constraintsOf({ constraints }: Front): { readonly constraints?: unknown } {
  if (!Array.isArray(constraints)) return {};
  return {
    constraints: constraints.map((one: unknown) => {
      if (!hasPattern(one)) return one;
      const { pattern, ...rest } = one;
      // With both of them the pattern stays, as a field that there is not.
      return 'value' in rest ? one : { ...rest, value: pattern };
    }),
  };
}

const hasPattern = (constraint: unknown): constraint is Readonly<Record<string, unknown>> =>
  typeof constraint === 'object' && constraint !== null && 'pattern' in constraint;

/** A fault under the name that the file has for its field. */
function faultOf(issue: z.core.$ZodIssue, front: Front): string {
  const [field, at, name] = issue.path;
  const { constraints } = front;
  const isPattern =
    field === 'constraints' &&
    name === 'value' &&
    Array.isArray(constraints) &&
    hasPattern(constraints[at as number]);
  const path = isPattern ? ['constraints', at as number, 'pattern', ...issue.path.slice(3)] : issue.path;
  return faultsOf(new z.ZodError([{ ...issue, path }]), front);
}

/** Letters of a path that no id has become a dash. */
const idOf = (path: string): string =>
  path
    .replace(/\.[^./]*$/, '')
    .replace(/[^\p{L}\p{N}._/:@+-]+/gu, '-')
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .slice(0, 200);

function brokenRules(item: KnowledgeFile): string[] {
  return rulesOf(item).flatMap((rule, at) => {
    try {
      compileRule(rule);
      return [];
    } catch (error) {
      return [`constraints[${at}] is no rule: ${reasonOf(error)}`];
    }
  });
}
