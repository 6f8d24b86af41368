import { describe, expect, it } from 'vitest';
import { type JudgePolicy, type Verdict, judge } from '../../../runtime/protocol/policy.ts';
import { requestOf } from '../policies/judge-request.ts';

const rule = (name: string, verdict: unknown): JudgePolicy => ({ name, judge: () => verdict as Verdict });
const allows = rule('allows', undefined);
const late: Verdict = { code: 'REFUSED', reason: 'too late', retryAfterMs: 5 };

describe('judge', () => {
  it('is the first refusal, or none', () => {
    expect(judge([], requestOf())).toBeUndefined();
    expect(judge([allows, allows], requestOf())).toBeUndefined();
    const never = rule('never', { code: 'TIER_VIOLATION', reason: 'second' });
    expect(judge([allows, rule('late', late), never], requestOf())).toEqual(late);
  });

  it('takes a policy that throws for a refusal', () => {
    const broken: JudgePolicy = {
      name: 'broken',
      judge: () => {
        throw new Error('no table');
      },
    };
    expect(judge([allows, broken, rule('late', late)], requestOf())).toEqual({
      code: 'REFUSED',
      reason: 'The policy "broken" could not judge: no table',
    });
  });

  it.each([true, Promise.resolve(undefined), { code: 'MADE_UP', reason: '' }, { code: 'REFUSED' }, null])(
    'takes %o, which is no verdict, for a refusal',
    (verdict) => {
      expect(judge([rule('odd', verdict)], requestOf())).toEqual({
        code: 'REFUSED',
        reason: 'The policy "odd" could not judge: it returned no verdict',
      });
    },
  );
});
