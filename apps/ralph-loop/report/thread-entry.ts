import type { A2AEnvelope } from 'orrery';
import { z } from 'zod';
import { count, duration } from './printable.ts';

/**
 * An envelope in the thread of a task, with its content in a few words.
 *
 * - `atMs`       when it was made, Unix milliseconds.
 * - `inReplyTo`  id of the envelope that it answers.
 */
export const ThreadEntry = z.strictObject({
  id: z.string(),
  atMs: z.number(),
  sender: z.string(),
  recipient: z.string(),
  type: z.string(),
  says: z.string(),
  inReplyTo: z.string().optional(),
});
export type ThreadEntry = z.infer<typeof ThreadEntry>;

/** The longest text of an entry, characters. The trace has the full text. */
const MAX_TEXT = 300;

/** Describes an envelope for readers of a report. */
export function threadEntry(envelope: A2AEnvelope): ThreadEntry {
  const { id, timestamp, sender, recipient, type, metadata } = envelope;
  const text = textOf(envelope);
  return {
    id,
    atMs: timestamp,
    sender,
    recipient,
    type,
    says: `${text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 3)}...`}${taintText(metadata?.taint)}`,
    ...(metadata?.inReplyTo === undefined ? {} : { inReplyTo: metadata.inReplyTo }),
  };
}

const taintText = (taint: readonly string[] | undefined): string =>
  taint === undefined ? '' : ` (from outside: ${taint.join(', ')})`;

type Fields = Readonly<Record<string, unknown>>;

function textOf({ type, payload, metadata }: A2AEnvelope): string {
  const fields: Fields = typeof payload === 'object' && payload !== null ? (payload as Fields) : {};
  switch (type) {
    case 'task-proposal':
      return proposalText(fields, metadata?.escalationJustification);
    case 'task-accept':
      return acceptanceText(fields);
    case 'task-reject':
      return rejectionText(fields);
    case 'request':
    case 'stream-start':
      return requestText(metadata?.capability, fields, metadata?.escalationJustification);
    case 'error':
      return `${String(fields['code'])}: ${String(fields['message'])}`;
    default:
      return answerText(fields) ?? inShort(payload);
  }
}

function proposalText(fields: Fields, justification: string | undefined): string {
  const { taskDescription, requiredCapabilities, deadlineMs } = fields;
  if (typeof taskDescription !== 'string') return inShort(fields);
  const needed = Array.isArray(requiredCapabilities) ? ` (${requiredCapabilities.join(', ')})` : '';
  const within = typeof deadlineMs === 'number' ? `, answer within ${duration(deadlineMs)}` : '';
  return `proposes "${taskDescription}"${needed}${within}${because(justification ?? fields['escalationJustification'])}`;
}

/**
 * Describes a `task-accept`, which is an offer, its confirmation with a lease, or a sign that the agent still has the task.
 */
function acceptanceText({ estimatedCompletionMs, leaseMs, acceptedBy, epoch }: Fields): string {
  if (typeof leaseMs === 'number')
    return `gives it to ${String(acceptedBy)} (epoch ${String(epoch)}), for ${duration(leaseMs)} at a time`;
  if (epoch !== undefined) return `has it (epoch ${String(epoch)})`;
  return typeof estimatedCompletionMs === 'number'
    ? `would take it on, about ${duration(estimatedCompletionMs)}`
    : 'would take it on';
}

function rejectionText({ rejectionReason, reason, alternativeSuggestion }: Fields): string {
  const named = typeof alternativeSuggestion === 'string' ? `, names ${alternativeSuggestion}` : '';
  const code = String(rejectionReason ?? reason ?? 'no reason');
  return code === 'COMPLETED' ? 'says that it is done' : `refuses: ${code}${named}`;
}

function requestText(capability: string | undefined, { feedback }: Fields, justification: unknown): string {
  const again = typeof feedback === 'string' ? `, again: ${feedback}` : '';
  return `asks for ${capability ?? 'something'}${again}${because(justification)}`;
}

/** Describes the answer of an audit's agent, by the fields that it has. */
function answerText({
  findings,
  verdict,
  feedback,
  assignments,
  decision,
  ruling,
  reason,
}: Fields): string | undefined {
  if (typeof verdict === 'string') return `${verdict}${feedback ? `: ${String(feedback)}` : ''}`;
  if (Array.isArray(findings)) return count(findings.length, 'finding');
  if (Array.isArray(assignments)) return count(assignments.length, 'assignment');
  const decided = decision ?? ruling;
  if (typeof decided === 'string') return `${decided}: ${String(reason)}`;
  return undefined;
}

const because = (justification: unknown): string =>
  typeof justification === 'string' && justification !== '' ? `, because ${justification}` : '';

function inShort(payload: unknown): string {
  return payload === undefined || payload === null ? 'nothing' : JSON.stringify(payload);
}
