import { type ErrorCode, errorToData, stackOf } from './errors.ts';
import type { Seams } from './seams.ts';
import type { SystemEvent } from './system-event.ts';

/**
 * What somebody outside is told of an error.
 *
 * - `id` by which the operator finds what is not told; undefined where all is.
 */
export interface ToldFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly id?: string;
}

/** Notes an error where the operator finds it, by the id that it returns. */
export type NoteFailure = (error: unknown) => string;

/** The part of an agent client by which what happens at the edge of a system is noted in it. */
export interface NotingClient {
  readonly agentId: string;
  readonly seams: Seams;
  note(event: Omit<SystemEvent, 'timestamp'>): void;
}

/** Notes what was thrown as an event of the system (`error`, with `errorId`). Callers are told that id alone. */
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

/** What is said on purpose, by the agent or by the runtime to whoever asks: it goes out as it is. */
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

/** What is told in place of what was thrown, or of what the machine, its disk or somebody else has said. */
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

/** What is told of an error that is none of a caller's business: its operator is told which it was. */
export const INTERNAL_SENTENCE = 'The request failed for a reason inside the system';

/** What is wrong was found by code that threw: what it says is what was thrown. */
const isThrown = (details: Readonly<Record<string, unknown>> = {}): boolean => details['thrown'] === true;

/** Says whether an error goes out as it is. */
export function isToldAsItIs(error: unknown): boolean {
  const { code, details } = errorToData(error);
  return SAID.has(code) && !isThrown(details);
}

/**
 * What is told of an error outside: a refusal and whatever else was said on purpose as it is; of what was thrown the code, a
 * sentence that says nothing of it, and the id that `note` gives it.
 */
export function toldFailure(error: unknown, note: NoteFailure): ToldFailure {
  const { code, message } = errorToData(error);
  if (isToldAsItIs(error)) return { code, message };
  return { code, message: SENTENCES[code] ?? INTERNAL_SENTENCE, id: note(error) };
}
