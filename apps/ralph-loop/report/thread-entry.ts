import type { A2AEnvelope } from 'orrery';
import { z } from 'zod';
import { count, duration } from './printable.ts';

/**
 * One envelope of a task's thread, and what it says in a few words.
 *
 * - `atMs`       Unix milliseconds, when it was made.
 * - `inReplyTo`  the envelope that it answers.
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

/** Longer words are cut: what was said in full stands in the trace. */
const MAX_SAID = 300;

/** What `envelope` says, for the reader of a report. */
export function threadEntry(envelope: A2AEnvelope): ThreadEntry {
  const { id, timestamp, sender, recipient, type, metadata } = envelope;
  const said = wordsOf(envelope);
  return {
    id,
    atMs: timestamp,
    sender,
    recipient,
    type,
    says: `${said.length <= MAX_SAID ? said : `${said.slice(0, MAX_SAID - 3)}...`}${outsideWords(metadata?.taint)}`,
    ...(metadata?.inReplyTo === undefined ? {} : { inReplyTo: metadata.inReplyTo }),
  };
}

const outsideWords = (taint: readonly string[] | undefined): string =>
  taint === undefined ? '' : ` (from outside: ${taint.join(', ')})`;

type Fields = Readonly<Record<string, unknown>>;

function wordsOf({ type, payload, metadata }: A2AEnvelope): string {
  const fields: Fields = typeof payload === 'object' && payload !== null ? (payload as Fields) : {};
  switch (type) {
    case 'task-proposal':
      return proposalWords(fields, metadata?.escalationJustification);
    case 'task-accept':
      return acceptanceWords(fields);
    case 'task-reject':
      return rejectionWords(fields);
    case 'request':
    case 'stream-start':
      return requestWords(metadata?.capability, fields, metadata?.escalationJustification);
    case 'error':
      return `${String(fields['code'])}: ${String(fields['message'])}`;
    default:
      return answerWords(fields) ?? inShort(payload);
  }
}

function proposalWords(fields: Fields, justification: string | undefined): string {
  const { taskDescription, requiredCapabilities, deadlineMs } = fields;
  if (typeof taskDescription !== 'string') return inShort(fields);
  const needed = Array.isArray(requiredCapabilities) ? ` (${requiredCapabilities.join(', ')})` : '';
  const within = typeof deadlineMs === 'number' ? `, answer within ${duration(deadlineMs)}` : '';
  return `proposes "${taskDescription}"${needed}${within}${because(justification ?? fields['escalationJustification'])}`;
}

/** The same type says three things: an offer, its confirmation with a lease, and that the agent still has the task. */
function acceptanceWords({ estimatedCompletionMs, leaseMs, acceptedBy, epoch }: Fields): string {
  if (typeof leaseMs === 'number')
    return `gives it to ${String(acceptedBy)} (epoch ${String(epoch)}), for ${duration(leaseMs)} at a time`;
  if (epoch !== undefined) return `has it (epoch ${String(epoch)})`;
  return typeof estimatedCompletionMs === 'number'
    ? `would take it on, about ${duration(estimatedCompletionMs)}`
    : 'would take it on';
}

function rejectionWords({ rejectionReason, reason, alternativeSuggestion }: Fields): string {
  const named = typeof alternativeSuggestion === 'string' ? `, names ${alternativeSuggestion}` : '';
  const code = String(rejectionReason ?? reason ?? 'no reason');
  return code === 'COMPLETED' ? 'says that it is done' : `refuses: ${code}${named}`;
}

function requestWords(capability: string | undefined, { feedback }: Fields, justification: unknown): string {
  const again = typeof feedback === 'string' ? `, again: ${feedback}` : '';
  return `asks for ${capability ?? 'something'}${again}${because(justification)}`;
}

/** The answers of the audit's agents, each by what it is known for. */
function answerWords({
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
