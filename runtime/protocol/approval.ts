import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Capability, describeCapability } from './capability.ts';
import { isAmong, Taint } from './taint.ts';

/**
 * Something that an agent does not do before somebody has approved it.
 *
 * - `action`  what it is, such as `files.delete`.
 * - `details` with what: what is approved is this, and nothing else.
 * - `message` for whoever decides.
 * - `taint`   where it came from outside, as far as that matters: whoever decides has been told of these sources, and of no
 *             others.
 */
export const ApprovalRequest = z.strictObject({
  action: z.string().min(1),
  details: z.json().default(null),
  message: z.string().min(1),
  taint: Taint.optional(),
});
export type ApprovalRequest = z.infer<typeof ApprovalRequest>;

/** What was decided; `reason` for the agent that asked. */
export const ApprovalDecision = z.strictObject({ approved: z.boolean(), reason: z.string().optional() });
export type ApprovalDecision = z.infer<typeof ApprovalDecision>;

/** Who wants to have it approved. `taskId`: in which task, if it is in one. */
export interface ApprovalAsker {
  readonly agentId: string;
  readonly taskId?: string | undefined;
}

/** Decides, perhaps after asking a person. What it throws is a refusal, with what it says. */
export type Approver = (
  request: ApprovalRequest,
  asker: ApprovalAsker,
) => Promise<ApprovalDecision | boolean> | ApprovalDecision | boolean;

/** The same for two requests of the same action with the same details, however the fields are ordered. */
export const approvalHash = ({ action, details }: Pick<ApprovalRequest, 'action' | 'details'>): string =>
  hashOf([action, details]);

/**
 * The same for two declarations that say the same of a capability, which is all that whoever approves a call of it can know:
 * what is declared otherwise meanwhile is something else.
 */
export const definitionHash = (declared: Capability): string =>
  hashOf([describeCapability(declared), declared.edition ?? null]);

/**
 * Says whether what was decided, by somebody who was told of these sources, is decided for something that is now of `taint`.
 * A source that nobody was told of is to be decided about anew; it makes nothing better that was refused.
 */
export const isDecidedFor = (
  { approved, taint: told }: { readonly approved: boolean; readonly taint?: Taint | undefined },
  taint: Taint | undefined,
): boolean => !approved || isAmong(taint, told);

/** Of what JSON can say. */
export const hashOf = (value: unknown): string =>
  createHash('sha256').update(canonical(value)).digest('base64url');

/** JSON with the fields of every object in the order of their names. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`);
  return `{${fields.join()}}`;
}
