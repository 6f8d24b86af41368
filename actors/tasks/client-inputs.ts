import { z } from 'zod';
import {
  CLIENT_NOTE,
  type ClientInput,
  ClientInputs,
  ClientNote,
  INPUTS_KEYWORD,
} from '../../runtime/protocol/client-input.ts';
import { OrreryError } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { Task } from '../../runtime/protocol/task.ts';
import type { HandlingContext } from '../../runtime/public.ts';
import { isObject } from './turn-plan.ts';
import { runningTaskOf } from './task-of.ts';
import type { Json } from './task-log.ts';

/** One input that a handler wants, and what an answer to it must be. */
export interface Wanted<Answer> {
  readonly input: ClientInput;
  readonly answer: z.ZodType<Answer>;
}

/** How a question was answered, or a link followed. */
export type Answered<Content> =
  | { readonly action: 'accept'; readonly content: Content }
  | { readonly action: 'decline' | 'cancel' };

const NotAccepted = z.object({ action: z.enum(['decline', 'cancel']) });

/** A form to fill in: its fields as zod, or as JSON Schema of an object. */
export function question<Content = Record<string, unknown>>(
  message: string,
  fields: z.ZodType<Content> | Readonly<Record<string, unknown>>,
): Wanted<Answered<Content>> {
  const isZod = fields instanceof z.core.$ZodType;
  const schema = isZod ? z.toJSONSchema(fields as z.ZodType, { io: 'input' }) : fields;
  const { $schema: _, ...plain } = schema as Record<string, Json>;
  const content = (isZod ? fields : z.record(z.string(), z.json())) as z.ZodType<Content>;
  return {
    input: { kind: 'question', message, schema: plain },
    answer: z.union([z.object({ action: z.literal('accept'), content }), NotAccepted]) as z.ZodType<
      Answered<Content>
    >,
  };
}

/** Something to be done elsewhere, at a URL, such as to sign in. */
export const link = (message: string, url: string): Wanted<{ readonly action: string }> => ({
  input: { kind: 'link', message, url },
  answer: z.object({ action: z.enum(['accept', 'decline', 'cancel']) }),
});

const Sampled = z.looseObject({ role: z.string(), content: z.json(), model: z.string().optional() });

/** A continuation by the caller's own model. */
export const sample = (
  given: Omit<Extract<ClientInput, { kind: 'sample' }>, 'kind'>,
): Wanted<z.infer<typeof Sampled>> => ({ input: { kind: 'sample', ...given }, answer: Sampled });

const Roots = z.object({ roots: z.array(z.object({ uri: z.string(), name: z.string().optional() })) });

/** Folders in which the caller allows work. */
export const roots = (): Wanted<z.infer<typeof Roots>> => ({ input: { kind: 'roots' }, answer: Roots });

/** The answers, under the names of the questions. */
export type Answers<All extends Readonly<Record<string, Wanted<unknown>>>> = {
  readonly [Name in keyof All]: z.infer<All[Name]['answer']>;
};

/**
 * What whoever stands behind a call answers. What they have not answered yet, or not as it is to be, ends the handler: they are
 * asked, and when they have answered it runs again, on the same input, and finds the answers here. Works in a task as well;
 * where nobody can be asked it is an error with the code INPUT_REQUIRED.
 */
export function clientInputs<State, All extends Readonly<Record<string, Wanted<unknown>>>>(
  ctx: HandlingContext<State>,
  wanted: All,
): Answers<All> {
  const given = givenTo(ctx);
  const found: Record<string, unknown> = {};
  const open: ClientInputs = {};
  for (const [name, { input, answer }] of Object.entries(wanted)) {
    const parsed = answer.safeParse(Object.hasOwn(given, name) ? given[name] : undefined);
    if (parsed.success) found[name] = parsed.data;
    else open[name] = input;
  }
  if (Object.keys(open).length > 0) throw askFor(open);
  return found as Answers<All>;
}

/** Which kinds of input can be asked for: all, in a task; else those that whoever calls has said. */
export function canGive<State>(ctx: HandlingContext<State>, kind: ClientInput['kind']): boolean {
  const note = noteOf(ctx);
  return note === undefined ? runningTaskOf(ctx) !== undefined : note.can.includes(kind);
}

const noteOf = ({ envelope }: Pick<HandlingContext<never>, 'envelope'>): ClientNote | undefined =>
  ClientNote.safeParse(envelope?.metadata?.[CLIENT_NOTE]).data;

/** The answers given to a handler. In a task they are in the owner's message, as a note or as data. */
function givenTo<State>(ctx: HandlingContext<State>): Readonly<Record<string, unknown>> {
  const task = runningTaskOf(ctx);
  const given: Record<string, unknown> = { ...noteOf(ctx)?.given };
  for (const message of task === undefined ? [] : [...task.history, task.message])
    if (message.role === 'user') Object.assign(given, saidIn(message));
  return given;
}

function saidIn({ parts, metadata }: Task['history'][number]): Readonly<Record<string, Json>> {
  const data = parts.flatMap((part) =>
    'data' in part && isObject(part.data) && part.data['tool'] === undefined ? [part.data] : [],
  );
  const note = ClientNote.safeParse(metadata?.[CLIENT_NOTE]);
  return Object.assign({}, note.data?.given, ...data);
}

function askFor(open: ClientInputs): OrreryError {
  const inputs = parseOptions(ClientInputs, open, 'inputs');
  const sentence = Object.entries(inputs).map(([name, input]) =>
    'message' in input ? input.message : `${name} (${input.kind})`,
  );
  const schema = {
    type: 'object',
    properties: Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, answerOf(input)])),
    required: Object.keys(inputs),
    [INPUTS_KEYWORD]: inputs,
  };
  const text = sentence.join(' ');
  return new OrreryError('INPUT_REQUIRED', text, {
    details: { question: text, pause: { state: 'input-required', question: text, schema } },
  });
}

/** The schema of an answer, for callers that know only JSON Schema. */
function answerOf(input: ClientInput): Record<string, Json> {
  if (input.kind === 'roots' || input.kind === 'sample') return { type: 'object' };
  const action = { type: 'string', enum: ['accept', 'decline', 'cancel'] };
  const content = input.kind === 'question' ? { content: input.schema } : {};
  return { type: 'object', properties: { action, ...content }, required: ['action'] };
}
