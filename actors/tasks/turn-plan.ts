import type { AgentCard, CapabilityDescriptor } from '../../runtime/protocol/agent-card.ts';
import type { Part, TaskMessage } from '../../runtime/protocol/task.ts';
import { Json } from './task-log.ts';
import { OrreryError, invalidPayload } from '../../runtime/protocol/errors.ts';
import { z } from 'zod';
import { jsonOf } from '../../runtime/protocol/json.ts';
import { faultsOf } from '../../runtime/protocol/payload-faults.ts';
import { GivenApproval } from './task-of.ts';

/** The agent is asked for this capability with this input. `answer`: the owner's answer to the agent's question. */
export interface CallPlan {
  readonly kind: 'call';
  readonly capability: CapabilityDescriptor;
  readonly input: Json;
  readonly answer?: Json;
  readonly approvals: TurnMemo['approvals'];
}

/** The owner is asked, before the agent is. */
export interface QuestionPlan {
  readonly kind: 'question';
  readonly capability: string;
  readonly input: Json;
  readonly awaits: Awaited;
  readonly parts: Part[];
}

export type TurnPlan = CallPlan | QuestionPlan;

/** Decides what follows from a message, given the task's memo. Throws INVALID_PAYLOAD. */
export function planTurn(card: AgentCard, message: TaskMessage, memo: TurnMemo): TurnPlan {
  const content = contentOf(message);
  const capability = capabilityMeant(card, content, memo.capability);
  const { awaits, input = null, approvals } = memo;
  if (content.tool !== undefined || awaits === undefined)
    return withFields(capability, inputOf(capability, content), approvals);
  const call = { kind: 'call', capability, input, approvals } as const;
  switch (awaits.kind) {
    case 'fields':
      return withFields(capability, completed(capability, input, content), approvals);
    case 'proof':
      return { ...call, answer: content.data ?? content.text ?? null };
    case 'answer':
      return answered(call, awaits, content);
    case 'approval':
      return decided(call, awaits, content);
  }
}

/** What the owner is asked to approve. */
export const approvalParts = ({
  approvalId,
  action,
  details,
  message,
  taint,
}: Extract<Awaited, { kind: 'approval' }>): Part[] => [
  { text: message },
  {
    data: { approvalRequired: { approvalId, action, details, message, ...(taint && { taint }) } },
  },
];

/** An agent's question; `schema`: what the answer must be. */
export const questionParts = (question: string, schema: Json | undefined): Part[] => [
  { text: question },
  ...(schema === undefined ? [] : [{ data: { inputRequired: { schema } } }]),
];

function withFields(
  capability: CapabilityDescriptor,
  { input, lacking }: PlannedInput,
  approvals: TurnMemo['approvals'],
): TurnPlan {
  if (lacking.length === 0) return { kind: 'call', capability, input, approvals };
  const { id, name } = capability;
  const names = lacking.map((field) =>
    field.description === undefined ? field.name : `${field.name} (${field.description})`,
  );
  const fields = lacking.map((field) => ({ ...field }));
  return {
    kind: 'question',
    capability: id,
    input,
    awaits: { kind: 'fields' },
    parts: [
      { text: `${name} needs ${names.join(', ')}` },
      { data: { inputRequired: { capability: id, fields } } },
    ],
  };
}

function answered(
  call: CallPlan,
  awaits: Extract<Awaited, { kind: 'answer' }>,
  { text, data }: MessageContent,
): TurnPlan {
  const { question, schema } = awaits;
  const answer = data ?? (text === undefined ? null : readAs(text, schema ?? {}));
  const fault = schema === undefined ? undefined : faultOf(schema, answer);
  if (fault === undefined) return { ...call, answer };
  const parts = questionParts(`${question} (${fault})`, schema);
  return { kind: 'question', capability: call.capability.id, input: call.input, awaits, parts };
}

function decided(
  call: CallPlan,
  awaits: Extract<Awaited, { kind: 'approval' }>,
  { data }: MessageContent,
): TurnPlan {
  const { approvalId, hash, taint } = awaits;
  if (isObject(data) && data['approvalId'] === approvalId && typeof data['approved'] === 'boolean') {
    const { approved, reason } = data;
    const given = {
      approvalId,
      hash,
      approved,
      ...(typeof reason === 'string' ? { reason } : {}),
      ...(taint && { taint }),
    };
    // Asked for anew because the decision did not count: it is dropped.
    return { ...call, approvals: [...call.approvals.filter((one) => one.hash !== hash), given] };
  }
  return {
    kind: 'question',
    capability: call.capability.id,
    input: call.input,
    awaits,
    parts: approvalParts(awaits),
  };
}

/**
 * The content of a message that a capability can be given.
 *
 * - `tool`      the capability that it names, with `arguments`, in a data part `{tool, arguments}`.
 * - `text`      its text parts, one below the other; undefined without any.
 * - `data`      its other data: one value, or the fields of all of its objects.
 */
export interface MessageContent {
  readonly tool: string | undefined;
  readonly arguments: Json | undefined;
  readonly text: string | undefined;
  readonly data: Json | undefined;
}

export function contentOf({ parts }: TaskMessage): MessageContent {
  const texts: string[] = [];
  const data: Json[] = [];
  for (const part of parts) {
    if ('text' in part) texts.push(part.text);
    else if ('data' in part) data.push(part.data);
  }
  const text = texts.length === 0 ? undefined : texts.join('\n');
  if (data.length === 0) return { tool: undefined, arguments: undefined, text, data: undefined };
  const call = data.find(isCall);
  const others = data.filter((value) => value !== call);
  const [first, ...more] = others.filter(isObject);
  return {
    tool: call?.tool,
    arguments: call?.arguments ?? undefined,
    text,
    data: more.length === 0 ? (first ?? others[0]) : inOne([first as object, ...more]),
  };
}

/** The fields of all objects in one; of two with one name the last counts. */
const inOne = (objects: readonly object[]): { readonly [field: string]: Json } =>
  Object.fromEntries(objects.flatMap(Object.entries));

/**
 * The capability that a message means (C-38): the one that it names, by id or as `agent.capability`; else `current`, that of
 * its task; else the one that the card marks as default, or the only one. Throws INVALID_PAYLOAD naming the choices.
 */
export function capabilityMeant(
  card: AgentCard,
  { tool }: Pick<MessageContent, 'tool'>,
  current?: string,
): CapabilityDescriptor {
  const { id, name, capabilities, defaultCapability } = card;
  const [first, ...others] = capabilities;
  const wanted = tool ?? current ?? defaultCapability ?? (others.length === 0 ? first?.id : undefined);
  const found = capabilities.find(
    (one) => wanted === one.id || wanted === `${id}.${one.id}` || wanted === `${name}.${one.id}`,
  );
  if (found !== undefined) return found;
  const choices = capabilities.map((one) => one.id);
  const what =
    wanted === undefined ? 'The message names no capability' : `${id} has no capability "${wanted}"`;
  const hint =
    choices.length === 0
      ? `${id} has none`
      : `a data part {tool, arguments} names one of ${choices.join(', ')}`;
  throw new OrreryError('INVALID_PAYLOAD', `${what}: ${hint}`, { details: { agentId: id, choices } });
}

export const isObject = (value: unknown): value is { readonly [field: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isCall = (value: Json): value is { tool: string; arguments?: Json } =>
  isObject(value) && typeof value['tool'] === 'string' && Object.keys(value).every((key) => CALL.has(key));

const CALL: ReadonlySet<string> = new Set(['tool', 'arguments']);

/** A required field that the message did not give. */
interface LackingField {
  readonly name: string;
  readonly description?: string;
  readonly schema: Json;
}

/** The input of a capability, as far as it is known; `lacking`: required fields that are missing. */
interface PlannedInput {
  readonly input: Json;
  readonly lacking: readonly LackingField[];
}

/** The parts of a JSON Schema that matter for text. */
interface ObjectSchema {
  readonly properties: { readonly [name: string]: Json };
  readonly required: readonly string[];
}

/**
 * What a capability is given of a message: its arguments; or its text, where the capability takes text, or an object with
 * one required text, or what the text says as JSON. Throws INVALID_PAYLOAD when it takes nothing that was said.
 */
function inputOf({ id, inputSchema }: CapabilityDescriptor, content: MessageContent): PlannedInput {
  const schema = inputSchema as Json;
  const object = objectSchemaOf(schema);
  const given = content.arguments ?? (content.tool === undefined ? content.data : {});
  if (object !== undefined && (isObject(given) || given === undefined)) {
    const text = content.tool === undefined ? content.text : undefined;
    return given === undefined ? ofText(id, schema, object, text) : withText(object, given, text);
  }
  if (given !== undefined && (content.tool === undefined || content.arguments !== undefined))
    return whole(given);
  if (content.text !== undefined && takesText(schema)) return whole(content.text);
  const said = content.text === undefined ? undefined : jsonIn(content.text);
  if (said !== undefined && fits(schema, said)) return whole(said);
  throw invalidPayload(id, 'it is given nothing that it takes');
}

/** The input completed by an answer. */
function completed(
  { inputSchema }: CapabilityDescriptor,
  former: Json,
  content: Omit<MessageContent, 'tool'>,
): PlannedInput {
  const object = objectSchemaOf(inputSchema as Json) ?? { properties: {}, required: [] };
  const known = isObject(former) ? former : {};
  const said =
    content.arguments ?? content.data ?? (content.text === undefined ? undefined : jsonIn(content.text));
  if (isObject(said)) return planned(object, { ...known, ...said });
  const [field, ...others] = planned(object, known).lacking;
  if (field === undefined || others.length > 0 || content.text === undefined) return planned(object, known);
  return planned(object, { ...known, [field.name]: readAs(content.text, field.schema) });
}

/** Reads a text as a value of this schema. */
function readAs(text: string, schema: Json): Json {
  if (takesText(schema)) return text;
  const said = jsonIn(text.trim());
  if (said !== undefined && fits(schema, said)) return said;
  const word = text.trim().toLowerCase();
  if (typeOf(schema) === 'boolean' && (word === 'yes' || word === 'no')) return word === 'yes';
  return text;
}

/** Says why a value is none of this schema; undefined when it is one, or nobody can tell. */
function faultOf(schema: Json, value: Json): string | undefined {
  const parsed = parserOf(schema)?.safeParse(value);
  return parsed === undefined || parsed.success ? undefined : faultsOf(parsed.error, value);
}

function ofText(id: string, schema: Json, object: ObjectSchema, text: string | undefined): PlannedInput {
  const { properties, required } = object;
  if (text === undefined) return planned(object, {});
  const names = required.length > 0 ? required : Object.keys(properties);
  const [only, ...others] = names;
  if (only !== undefined && others.length === 0 && takesText(properties[only] ?? {}))
    return planned(object, { [only]: text });
  const said = jsonIn(text);
  if (isObject(said) && fits(schema, said)) return planned(object, said);
  // A schema without any field takes the text as no input: nothing of it is lost.
  if (required.length > 0 || names.length === 0) return planned(object, {});
  throw invalidPayload(id, `it takes ${names.join(', ')}, and no text`);
}

/** Puts a text beside data into the one text field that is missing. */
function withText(
  object: ObjectSchema,
  given: { readonly [name: string]: Json },
  text: string | undefined,
): PlannedInput {
  const plan = planned(object, given);
  const [field, ...others] = plan.lacking;
  if (text === undefined || field === undefined || others.length > 0 || !takesText(field.schema)) return plan;
  return planned(object, { ...given, [field.name]: text });
}

function planned(
  { properties, required }: ObjectSchema,
  input: { readonly [name: string]: Json },
): PlannedInput {
  const lacking = required
    .filter((name) => !Object.hasOwn(input, name))
    .map((name): LackingField => {
      const schema = properties[name] ?? {};
      const description = isObject(schema) ? schema['description'] : undefined;
      return { name, schema, ...(typeof description === 'string' ? { description } : {}) };
    });
  return { input, lacking };
}

const whole = (input: Json): PlannedInput => ({ input, lacking: [] });

function objectSchemaOf(schema: Json): ObjectSchema | undefined {
  if (!isObject(schema) || schema['type'] !== 'object') return undefined;
  const { properties, required } = schema;
  return {
    properties: isObject(properties) ? properties : {},
    required: Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [],
  };
}

const typeOf = (schema: Json): unknown => (isObject(schema) ? schema['type'] : undefined);

/** Whether a schema takes text: as such, as one of several types, or as anything. */
function takesText(schema: Json): boolean {
  if (!isObject(schema)) return schema === true;
  const { type, anyOf, enum: values } = schema;
  if (type === 'string') return values === undefined;
  if (Array.isArray(type)) return type.includes('string');
  if (Array.isArray(anyOf)) return anyOf.some(takesText);
  return (
    type === undefined &&
    !('const' in schema) &&
    !('$ref' in schema) &&
    !('allOf' in schema) &&
    !('enum' in schema)
  );
}

const fits = (schema: Json, value: Json): boolean => parserOf(schema)?.safeParse(value).success === true;

/** Undefined for a schema that says what this cannot check. */
function parserOf(schema: Json): z.ZodType | undefined {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return undefined;
  }
}

const jsonIn = (text: string): Json | undefined => jsonOf(text) as Json | undefined;

/**
 * What the owner is asked next: missing fields, an answer to the agent's own question, a proof of who it is, or an approval.
 */
const Awaited = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('fields') }),
  z.object({ kind: z.literal('answer'), question: z.string(), schema: Json.optional() }),
  z.object({ kind: z.literal('proof') }),
  z.object({
    kind: z.literal('approval'),
    approvalId: z.string(),
    hash: z.string(),
    action: z.string(),
    details: Json,
    message: z.string(),
    taint: z.array(z.string().min(1)).min(1).optional(),
  }),
]);
export type Awaited = z.infer<typeof Awaited>;

/**
 * What is remembered of a task between its agent's turns. No caller sees it.
 *
 * - `capability` of the task's last turn, and its `input`, as far as it is known.
 * - `state`      the agent's own.
 * - `approvals`  what was decided, and not used.
 * - `taint`      where what is remembered came from outside: the messages that are part of it, and an agent that set `state`.
 * - `turn`       the last one that was begun: its number, the owner's answer, and how many reports of which run have come.
 */
export const TurnMemo = z.object({
  capability: z.string().optional(),
  input: Json.optional(),
  awaits: Awaited.optional(),
  state: Json.optional(),
  approvals: z.array(GivenApproval),
  taint: z.array(z.string().min(1)).min(1).optional(),
  turn: z
    .object({
      number: z.int(),
      answer: Json.optional(),
      run: z.string().optional(),
      reports: z.int().nonnegative(),
    })
    .optional(),
});
export type TurnMemo = z.infer<typeof TurnMemo>;

/** The memo; an empty one if it cannot be read. */
export const memoOf = (memo: Json | undefined): TurnMemo => {
  if (memo === undefined) return { approvals: [] };
  const parsed = TurnMemo.safeParse(memo);
  return parsed.success ? parsed.data : { approvals: [] };
};
