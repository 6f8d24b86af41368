import { z } from 'zod';
import { type Capability, capability, parseOutput } from '../../runtime/protocol/capability.ts';
import { requireCapability } from '../../runtime/protocol/capability-options.ts';
import { invalidOptions, isOrreryError } from '../../runtime/protocol/errors.ts';
import { requireFunction } from '../../runtime/protocol/parse-options.ts';

/**
 * What an agent with a model can be asked for.
 *
 * - `prompt`       what the model is told of an input. @default its field `prompt` if it has no other, else all of it as JSON
 * - `instructions` beside those of the agent.
 * - `streams`      it is answered with a stream of the model's text, whose output must be text. @default false
 */
export interface ModelCapability {
  readonly capability: Capability;
  readonly prompt?: (input: never) => string;
  readonly instructions?: string;
  readonly streams?: boolean;
}

const Prompt = z.object({ prompt: z.string().min(1).describe('What is wanted, in words') });

/** The capability of an agent that declares none: text in, text out. */
export const answer = capability({
  id: 'answer',
  name: 'Answer',
  description: 'Answers a question, or does what it is told, in words',
  input: Prompt,
  output: z.string(),
});

/** The same as a stream. */
export const answerStream = capability({
  id: 'answer.stream',
  name: 'Answer as a stream',
  description: 'Answers a question, or does what it is told, in words, as they come',
  input: Prompt,
  output: z.string(),
});

export const DEFAULT_CAPABILITIES: readonly ModelCapability[] = [
  { capability: answerStream, streams: true },
  { capability: answer },
];

/** One of the agent's capabilities as it is worked at; `schema` is that of the answer, and undefined for plain text. */
export interface ModelTask {
  readonly capability: Capability;
  readonly promptOf: (input: unknown) => string;
  readonly instructions: string | undefined;
  readonly streams: boolean;
  readonly schema: unknown;
}

/** Throws INVALID_OPTIONS naming the field at fault. */
export function modelTask(given: ModelCapability | Capability, at: number): ModelTask {
  const root = `modelAgent.capabilities[${at}]`;
  if (typeof given !== 'object' || given === null)
    throw invalidOptions(root, given, 'a capability, or { capability, prompt?, instructions?, streams? }');
  const {
    prompt,
    instructions,
    streams = false,
    capability: asked,
    ...others
  }: ModelCapability = 'capability' in given ? given : { capability: given };
  const [unknown] = Object.entries(others);
  if (unknown !== undefined)
    throw invalidOptions(`${root}.${unknown[0]}`, unknown[1], 'no option of this name');
  const declared = requireCapability(`${root}.capability`, asked);
  if (prompt !== undefined) requireFunction(`${root}.prompt`, prompt);
  if (instructions !== undefined && typeof instructions !== 'string')
    throw invalidOptions(`${root}.instructions`, instructions, 'a text');
  if (typeof streams !== 'boolean') throw invalidOptions(`${root}.streams`, streams, 'true or false');
  if (declared.carries !== 'json')
    throw invalidOptions(`${root}.capability.carries`, declared.carries, "'json': a model says nothing else");
  const schema = z.toJSONSchema(declared.output, { io: 'input', unrepresentable: 'any' });
  const isText = schema.type === 'string' && schema.enum === undefined && schema.const === undefined;
  if (streams && !isText)
    throw invalidOptions(`${root}.streams`, streams, 'a capability whose output is text');
  return {
    capability: declared,
    promptOf: prompt === undefined ? promptOf : (prompt as (input: unknown) => string),
    instructions,
    streams,
    schema: isText ? undefined : schema,
  };
}

function promptOf(input: unknown): string {
  if (typeof input === 'string') return input;
  const { prompt, ...others } = (input ?? {}) as { prompt?: unknown };
  if (typeof prompt === 'string' && Object.keys(others).length === 0) return prompt;
  return JSON.stringify(input) ?? '';
}

/** What the model's text is as an answer, or why it is none. */
export type ReadAnswer = { readonly answer: unknown } | { readonly fault: string };

/** Reads the model's text as the capability wants it: as it is, or as JSON that fits the output's schema. */
export function readAnswer(
  { capability: declared, schema }: ModelTask,
  text: string,
  agentId: string,
): ReadAnswer {
  if (text.trim() === '') return { fault: 'the answer is empty' };
  const found = schema === undefined ? { value: text } : jsonIn(text);
  if (found === undefined) return { fault: 'the answer is no JSON' };
  try {
    parseOutput(declared, found.value, agentId);
    return { answer: found.value };
  } catch (error) {
    if (!isOrreryError(error) || error.code !== 'REFUSED') throw error;
    return { fault: String(error.details['issues'] ?? error.message) };
  }
}

const FENCED = /```(?:json)?\s*\n([\s\S]*?)```/g;

/** The JSON in a text: models put it between fences and other text. */
function jsonIn(text: string): { readonly value: unknown } | undefined {
  const fenced = [...text.matchAll(FENCED)].map(([, inside]) => inside ?? '').reverse();
  const objects = [between(text, '{', '}'), between(text, '[', ']')];
  for (const candidate of [text, ...fenced, ...objects]) {
    try {
      return { value: JSON.parse(candidate) as unknown };
    } catch {
      // The next one may be.
    }
  }
  return undefined;
}

function between(text: string, open: string, close: string): string {
  const [from, to] = [text.indexOf(open), text.lastIndexOf(close)];
  return from < 0 || to < from ? '' : text.slice(from, to + 1);
}

/** What a model is told before anything else: of its agent, of what is asked for, and what its answer has to be. */
export function instructionsOf(
  instructions: string,
  { instructions: own, schema, capability }: ModelTask,
): string {
  const structured =
    schema === undefined
      ? []
      : [
          `Your last answer is one JSON value, and nothing around it, that fits this JSON Schema (${capability.description}):\n${JSON.stringify(schema)}`,
        ];
  return [instructions, ...(own === undefined ? [] : [own]), ...structured].join('\n\n');
}
