import { z } from 'zod';
import { ApprovalRequest } from '../../runtime/protocol/approval.ts';
import { invalidOptions, isOrreryError, OrreryError, refused } from '../../runtime/protocol/errors.ts';
import { Json } from './task-log.ts';

/** How much of an error's details crosses from a process of its own, at most. */
const MAX_DETAILS = 12_000;

/**
 * How an agent ends its turn to wait for the owner.
 *
 * - `schema`   JSON Schema of the answer.
 * - `approval` what the owner is to approve.
 */
export const TurnPause = z.object({
  state: z.enum(['input-required', 'auth-required']),
  question: z.string(),
  schema: Json.optional(),
  approval: ApprovalRequest.optional(),
});
export type TurnPause = z.infer<typeof TurnPause>;

/**
 * What a handler throws to ask the owner of its task. The next message of the owner runs the handler again, on the same
 * input, with what was said as `taskOf(ctx).answer`. Asked outside of a task it is an error with the code INPUT_REQUIRED.
 *
 * `schema`: what the answer must be, zod or JSON Schema; asked again until it is. @default anything that is said
 */
export const inputRequired = (
  question: string,
  schema?: z.ZodType | Readonly<Record<string, unknown>>,
): OrreryError =>
  pause({
    state: 'input-required',
    question,
    ...(schema === undefined ? {} : { schema: jsonSchemaOf(schema) }),
  });

/** What a handler throws when the owner has to prove something first; `question` says what, and how. */
export const authRequired = (question: string): OrreryError => pause({ state: 'auth-required', question });

/** What a handler throws to decline its task, which then is `rejected`, where `refused` has it `failed`. Else as that. */
export const rejected = (reason: string): OrreryError => refused(reason, { taskState: 'rejected' });

/** The state in which an error ends a task. */
export const endedBy = (error: unknown): 'rejected' | 'failed' =>
  isOrreryError(error) && error.code === 'REFUSED' && error.details['taskState'] === 'rejected'
    ? 'rejected'
    : 'failed';

/** The error that pauses a turn. Throws INVALID_OPTIONS for more than fits. */
export function pause(pausing: TurnPause): OrreryError {
  const { question, approval } = pausing;
  const size = JSON.stringify(pausing).length;
  const most = `at most ${MAX_DETAILS} characters of question, schema and details together`;
  if (size > MAX_DETAILS)
    throw invalidOptions(approval ? 'approval' : 'question', `${size} characters`, most);
  return new OrreryError('INPUT_REQUIRED', question, { details: { question, pause: pausing } });
}

/** How an agent's error ends a turn; undefined when it fails it. An error that asks in another way, such as one of an agent elsewhere, asks too. */
export function pauseIn(error: unknown): TurnPause | undefined {
  if (!isOrreryError(error) || error.code !== 'INPUT_REQUIRED') return undefined;
  const parsed = TurnPause.safeParse(error.details['pause']);
  if (parsed.success) return parsed.data;
  const { question } = error.details;
  return { state: 'input-required', question: typeof question === 'string' ? question : error.message };
}

const jsonSchemaOf = (schema: z.ZodType | Readonly<Record<string, unknown>>): Json =>
  (schema instanceof z.core.$ZodType
    ? z.toJSONSchema(schema as z.ZodType, { unrepresentable: 'any', io: 'input' })
    : schema) as Json;
