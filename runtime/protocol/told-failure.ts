import { type ErrorCode, errorToData, stackOf } from './errors.ts';
import type { Seams } from './seams.ts';
import type { SystemEvent } from './system-event.ts';

/**
 * What a caller outside is told of an error.
 *
 * - `id` by which the operator finds what is not told; undefined if everything is told.
 */
export interface ToldFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly id?: string;
}

/** Notes an error for the operator; returns the id to find it by. */
export type NoteFailure = (error: unknown) => string;

/** The part of an agent client by which a gateway notes events in the system. */
export interface NotingClient {
  readonly agentId: string;
  readonly seams: Seams;
  note(event: Omit<SystemEvent, 'timestamp'>): void;
}

/** Notes errors as events of the system (`error`, with `errorId`). Callers are told only that id. */
export const noteAt =
  (client: NotingClient): NoteFailure =>
  (error) => {
    const errorId = client.seams.newId();
    const { code, message } = errorToData(error);
    const stack = stackOf(error);
    client.note({
      type: 'error',
      agentId: client.agentId,
      errorId,
      errorCode: code,
      reason: message,
      success: false,
      ...(stack !== undefined && { stack }),
    });
    return errorId;
  };

/** Codes of errors that are meant for the caller: they go out as they are. */
const SAID: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'AGENT_NOT_FOUND',
  'BODY_TOO_LARGE',
  'BUDGET_EXCEEDED',
  'CANCELLED',
  'CAPABILITY_NOT_FOUND',
  'DEADLINE_EXCEEDED',
  'ESCALATION_REQUIRED',
  'HOP_LIMIT',
  'INPUT_REQUIRED',
  'INVALID_PAYLOAD',
  'MAILBOX_FULL',
  'NOT_PERMITTED',
  'PATH_LOOP',
  'PROMPT_NOT_FOUND',
  'PROPOSAL_TIMEOUT',
  'QUOTA_EXCEEDED',
  'RATE_LIMITED',
  'REFUSED',
  'RESOURCE_NOT_FOUND',
  'SANDBOX_VIOLATION',
  'SYSTEM_STOPPED',
  'TAINTED',
  'TAKEN',
  'TASK_GENERATION_MISMATCH',
  'TASK_NOT_FOUND',
  'TASK_OVER',
  'TIER_VIOLATION',
  'TOOL_NOT_FOUND',
  'UNAUTHENTICATED',
]);

/** By code: the sentence that replaces the text of an error that was thrown, or that comes from the machine or somebody else. */
const SENTENCES: Readonly<Record<string, string>> = {
  ACTOR_DIED: 'The agent died while it worked at this',
  HANDLER_FAILED: 'The agent failed at this',
  INVALID_PAYLOAD: 'What the agent was given does not fit its schema',
  POISON: 'The agent died of this each time that it was tried',
  REFUSED: 'What the agent answered does not fit its schema',
  REMOTE_FAILED: 'An agent elsewhere, which this one asked, failed',
  REMOTE_UNREACHABLE: 'An agent elsewhere, which this one asked, cannot be reached',
  SUPERVISOR_GAVE_UP: 'The agent is not there: it failed too often',
  THREAD_DIED: 'The agent lost this when its thread died',
};

/** The sentence for an error that is none of the caller's business. Only the operator learns which it was. */
export const INTERNAL_SENTENCE = 'The request failed for a reason inside the system';

/** Whether the text is that of an error which code threw. */
const isThrown = (details: Readonly<Record<string, unknown>> = {}): boolean => details['thrown'] === true;

/** Says whether an error goes out as it is. */
export function isToldAsItIs(error: unknown): boolean {
  const { code, details } = errorToData(error);
  return SAID.has(code) && !isThrown(details);
}

/**
 * What a caller outside is told of an error. A refusal, or another error meant for the caller, goes out as it is. Of an error that
 * was thrown the caller gets the code, a general sentence, and the id that `note` returns.
 */
export function toldFailure(error: unknown, note: NoteFailure): ToldFailure {
  const { code, message } = errorToData(error);
  if (isToldAsItIs(error)) return { code, message };
  return { code, message: SENTENCES[code] ?? INTERNAL_SENTENCE, id: note(error) };
}
