import type { JudgePolicy } from '../runtime/protocol/policy.ts';

/** Refuses an envelope that nobody waits for any more: DEADLINE_EXCEEDED. */
export const deadline = (): JudgePolicy => ({
  name: 'deadline',
  judge: ({ deadlineAtMs, nowMs, recipient }) =>
    deadlineAtMs === undefined || nowMs < deadlineAtMs
      ? undefined
      : {
          code: 'DEADLINE_EXCEEDED',
          reason: `The deadline passed ${nowMs - deadlineAtMs} ms before the envelope was sent to ${recipient.id}`,
        },
});
