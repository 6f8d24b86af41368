import type { AgentCard, CapabilityDescriptor } from '../../runtime/protocol/agent-card.ts';
import type { Part, TaskMessage } from '../../runtime/protocol/task.ts';
import { completed, faultOf, inputOf, type PlannedInput, readAs } from './capability-input.ts';
import { capabilityMeant, isObject, type SaidWords, wordsOf } from './capability-meant.ts';
import type { Json } from './task-log.ts';
import type { Awaited, TurnMemo } from './turn-memo.ts';

/** The agent is asked for this capability, on this input; `answer`: what the owner has answered to its question. */
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

/** What follows from a message, in a task of which this is remembered. Throws INVALID_PAYLOAD. */
export function planTurn(card: AgentCard, message: TaskMessage, memo: TurnMemo): TurnPlan {
  const words = wordsOf(message);
  const capability = capabilityMeant(card, words, memo.capability);
  const { awaits, input = null, approvals } = memo;
  if (words.tool !== undefined || awaits === undefined)
    return withFields(capability, inputOf(capability, words), approvals);
  const call = { kind: 'call', capability, input, approvals } as const;
  switch (awaits.kind) {
    case 'fields':
      return withFields(capability, completed(capability, input, words), approvals);
    case 'proof':
      return { ...call, answer: words.data ?? words.text ?? null };
    case 'answer':
      return answered(call, awaits, words);
    case 'approval':
      return decided(call, awaits, words);
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
  { text, data }: SaidWords,
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
  { data }: SaidWords,
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
    // The same was asked for anew because what had been decided did not count: so it counts no more.
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
