import type { AgentTier } from '../../../runtime/protocol/agent-card.ts';
import type { JudgePolicy, JudgeRequest, Party } from '../../../runtime/protocol/policy.ts';

/** One side of an envelope; `fields` say what matters to the test. */
export const partyOf = (id: string, fields: Partial<Party> = {}): Party => ({
  id,
  tier: 3,
  sandboxId: undefined,
  isSystem: false,
  ...fields,
});

/** An envelope that no rule minds; `fields` say what matters to the test. */
export const requestOf = (fields: Partial<JudgeRequest> = {}): JudgeRequest => ({
  sender: partyOf('sender'),
  recipient: partyOf('recipient'),
  type: 'request',
  isBroadcast: false,
  isTool: false,
  isGranted: false,
  expectsReply: false,
  justification: undefined,
  capability: undefined,
  proposes: [],
  schemaVersion: 1,
  deadlineAtMs: undefined,
  nowMs: 1_000,
  path: [],
  budget: undefined,
  ...fields,
});

export const TIERS: readonly AgentTier[] = [0, 1, 2, 3];

/** A part of the runtime itself. */
export const SYSTEM: Party = partyOf('system/host', { tier: 0, isSystem: true });

/** The code of the refusal, or undefined when the policy allows. */
export const codeOf = (policy: JudgePolicy, fields: Partial<JudgeRequest>): string | undefined =>
  policy.judge(requestOf(fields))?.code;

/** A sender and a recipient of these tiers. */
export const between = (
  source: AgentTier,
  target: AgentTier,
): Pick<JudgeRequest, 'sender' | 'recipient'> => ({
  sender: partyOf('sender', { tier: source }),
  recipient: partyOf('recipient', { tier: target }),
});
