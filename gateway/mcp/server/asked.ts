import { ClientInputs, INPUTS_KEYWORD } from '../../../runtime/protocol/client-input.ts';
import { isOrreryError } from '../../../runtime/protocol/errors.ts';
import type { TaskMessage } from '../../../runtime/protocol/task.ts';
import { isObject } from '../../http/json-text.ts';
import { isObjectSchema } from '../../team/object-schema.ts';
import type { Result } from './json-shapes.ts';

/**
 * What an agent asks for before it can go on.
 *
 * - `inputs`   asked for by name, by a handler that calls `clientInputs`.
 * - `answer`   one question. `field` is the property that holds the answer: MCP wants an object.
 * - `approval` a question whether something may be done.
 */
export type Asked =
  | { readonly kind: 'inputs'; readonly inputs: ClientInputs }
  | { readonly kind: 'answer'; readonly inputs: ClientInputs; readonly field: string | undefined }
  | { readonly kind: 'approval'; readonly inputs: ClientInputs; readonly approvalId: string };

/** The names of inputs that a handler does not name: MCP needs one for each. */
const ANSWER = 'answer';
const APPROVAL = 'approval';
const APPROVED = 'approved';

/** Reads what an INPUT_REQUIRED error asks for; undefined for any other error. */
export function askedBy(error: unknown): Asked | undefined {
  if (!isOrreryError(error) || error.code !== 'INPUT_REQUIRED') return undefined;
  const { pause, question } = error.details;
  const schema = isObject(pause) ? pause['schema'] : undefined;
  return askedFor(typeof question === 'string' ? question : error.message, schema);
}

/** Reads what a task waits for, from the message of its status. */
export function askedIn({ parts }: TaskMessage): Asked {
  const texts = parts.flatMap((part) => ('text' in part ? [part.text] : []));
  const data = parts.flatMap((part) => ('data' in part && isObject(part.data) ? [part.data] : []));
  const question = texts.join('\n') || 'More is needed to go on';
  const approval = data.map((one): unknown => one['approvalRequired']).find(isObject);
  if (approval !== undefined) return approvalOf(question, String(approval['approvalId']));
  const required = data.map((one): unknown => one['inputRequired']).find(isObject);
  return askedFor(question, required?.['schema'] ?? schemaOfFields(required?.['fields']));
}

function askedFor(message: string, schema: unknown): Asked {
  const named = isObject(schema) ? ClientInputs.safeParse(schema[INPUTS_KEYWORD]) : undefined;
  if (named?.success === true) return { kind: 'inputs', inputs: named.data };
  const isForm = isForms(schema);
  const form = isForm ? schema : formOf(schema);
  const { $schema: _, ...plain } = form as Record<string, never>;
  return {
    kind: 'answer',
    inputs: { [ANSWER]: { kind: 'question', message, schema: plain } },
    field: isForm ? undefined : ANSWER,
  };
}

const approvalOf = (message: string, approvalId: string): Asked => ({
  kind: 'approval',
  approvalId,
  inputs: {
    [APPROVAL]: {
      kind: 'question',
      message,
      schema: {
        type: 'object',
        properties: { [APPROVED]: { type: 'boolean' } },
        required: [APPROVED],
      },
    },
  },
});

const PLAIN = new Set(['string', 'number', 'integer', 'boolean']);
const isPlain = (schema: unknown): boolean => isObject(schema) && PLAIN.has(String(schema['type']));

/** Whether the schema is one that MCP allows in a form: an object of plain fields, enums and lists. */
const isForms = (schema: unknown): schema is Result =>
  isObjectSchema(schema) &&
  isObject(schema['properties']) &&
  Object.values(schema['properties']).every(
    (field) => isPlain(field) || (isObject(field) && 'enum' in field) || isList(field),
  );

const isList = (field: unknown): boolean => isObject(field) && field['type'] === 'array';

const formOf = (schema: unknown): Result => ({
  type: 'object',
  properties: { [ANSWER]: isPlain(schema) ? schema : { type: 'string' } },
  required: [ANSWER],
});

function schemaOfFields(fields: unknown): Result | undefined {
  if (!Array.isArray(fields)) return undefined;
  const named = fields.filter(isObject).filter(({ name }) => typeof name === 'string');
  return {
    type: 'object',
    properties: Object.fromEntries(
      named.map(({ name, description, schema }) => [
        name,
        {
          ...(isPlain(schema) ? (schema as Result) : { type: 'string' }),
          ...(typeof description === 'string' ? { description } : {}),
        },
      ]),
    ),
    required: named.map(({ name }) => name),
  };
}

/** Writes inputs as `inputRequests` of MCP, by name. */
export const inputRequests = (inputs: ClientInputs): Record<string, Result> =>
  Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, requestOf(input)]));

function requestOf(input: ClientInputs[string]): Result {
  switch (input.kind) {
    case 'question':
      return {
        method: 'elicitation/create',
        params: { mode: 'form', message: input.message, requestedSchema: input.schema },
      };
    case 'link':
      return {
        method: 'elicitation/create',
        params: { mode: 'url', message: input.message, url: input.url },
      };
    case 'sample': {
      const { kind: _, ...params } = input;
      return { method: 'sampling/createMessage', params };
    }
    case 'roots':
      return { method: 'roots/list', params: {} };
  }
}

/** Reads a client's response to one question or approval; undefined if the client has declined. */
export function answerTo(asked: Exclude<Asked, { kind: 'inputs' }>, responses: Readonly<Result>): unknown {
  const [name = ''] = Object.keys(asked.inputs);
  const response = responses[name];
  const content = isObject(response) && response['action'] === 'accept' ? response['content'] : undefined;
  if (asked.kind === 'approval')
    return { approvalId: asked.approvalId, approved: isObject(content) && content[APPROVED] === true };
  if (!isObject(content)) return undefined;
  return asked.field === undefined ? content : content[asked.field];
}

/** Picks the responses to inputs that were asked for. Those that are no object are left out. */
export function responsesTo(inputs: ClientInputs, responses: unknown): Record<string, Result> {
  if (!isObject(responses)) return {};
  return Object.fromEntries(
    Object.keys(inputs).flatMap((name) => {
      const response = Object.hasOwn(responses, name) ? responses[name] : undefined;
      return isObject(response) ? [[name, response]] : [];
    }),
  );
}
