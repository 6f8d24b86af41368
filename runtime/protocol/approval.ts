import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Capability, describeCapability } from './capability.ts';
import { isAmong, Taint } from './taint.ts';

/**
 * A request to approve something that an agent does not do without approval.
 *
 * - `action`  what it is, such as `files.delete`.
 * - `details` what it is done with. The approval is for exactly this.
 * - `message` for whoever decides.
 * - `taint`   the sources outside from which it came, as far as that matters. The approver is told of these, and of no others.
 */
export const ApprovalRequest = z.strictObject({
  action: z.string().min(1),
  details: z.json().default(null),
  message: z.string().min(1),
  taint: Taint.optional(),
});
export type ApprovalRequest = z.infer<typeof ApprovalRequest>;

/** The decision. `reason` is for the agent that asked. */
export const ApprovalDecision = z.strictObject({ approved: z.boolean(), reason: z.string().optional() });
export type ApprovalDecision = z.infer<typeof ApprovalDecision>;

/** The agent that asks for an approval. `taskId` is the task in which it asks, if any. */
export interface ApprovalAsker {
  readonly agentId: string;
  readonly taskId?: string | undefined;
}

/** Decides, perhaps after asking a person. If it throws, that is a refusal with the error's text. */
export type Approver = (
  request: ApprovalRequest,
  asker: ApprovalAsker,
) => Promise<ApprovalDecision | boolean> | ApprovalDecision | boolean;

/** A hash of action and details; the order of fields does not matter. */
export const approvalHash = ({ action, details }: Pick<ApprovalRequest, 'action' | 'details'>): string =>
  hashOf([action, details]);

/**
 * A hash of what a capability's declaration says. An approver knows no more of the capability, so an approval does not hold for a
 * changed declaration.
 */
export const definitionHash = (declared: Capability): string =>
  hashOf([describeCapability(declared), declared.edition ?? null]);

/**
 * Says whether a decision holds for something that is now of `taint`. An approval does not, if the approver was not told of one of
 * the sources. A refusal always does.
 */
export const isDecidedFor = (
  { approved, taint: told }: { readonly approved: boolean; readonly taint?: Taint | undefined },
  taint: Taint | undefined,
): boolean => !approved || isAmong(taint, told);

/** A hash of a JSON value; the order of fields does not matter. */
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
