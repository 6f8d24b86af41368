import { z } from 'zod';
import { Json } from './task-log.ts';
import { GivenApproval } from './task-note.ts';

/**
 * What the owner is to say next: fields that the capability needs, an answer to the agent's own question, that something is
 * proved, or whether something may be done.
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
 * What is remembered of a task between its agent's turns, and nobody sees.
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

/** What cannot be read is nothing that is remembered. */
export const memoOf = (memo: Json | undefined): TurnMemo => {
  if (memo === undefined) return { approvals: [] };
  const parsed = TurnMemo.safeParse(memo);
  return parsed.success ? parsed.data : { approvals: [] };
};
