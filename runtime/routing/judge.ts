import { ERROR_CODES, reasonOf } from '../protocol/errors.ts';
import type { JudgePolicy, JudgeRequest, Verdict } from '../protocol/policy.ts';

/**
 * The first refusal among the policies, or undefined when all of them allow.
 *
 * A policy that throws, or returns what is no verdict, has not allowed: the envelope is refused with its name.
 */
export function judge(policies: readonly JudgePolicy[], request: JudgeRequest): Verdict | undefined {
  let asked: JudgePolicy | undefined;
  try {
    for (const policy of policies) {
      asked = policy;
      const verdict = policy.judge(request);
      if (verdict !== undefined)
        return isVerdict(verdict) ? verdict : failed(policy, 'it returned no verdict');
    }
    return undefined;
  } catch (error) {
    return failed(asked, reasonOf(error));
  }
}

const failed = (policy: JudgePolicy | undefined, reason: string): Verdict => ({
  code: 'REFUSED',
  reason: `The policy "${policy?.name}" could not judge: ${reason}`,
});

function isVerdict(value: unknown): value is Verdict {
  const { code, reason } = (value ?? {}) as Partial<Verdict>;
  return code !== undefined && ERROR_CODES.includes(code) && typeof reason === 'string';
}
