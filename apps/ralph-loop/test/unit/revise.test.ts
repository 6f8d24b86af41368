import type { HandlingContext } from 'orrery';
import { describe, expect, it } from 'vitest';
import { revised } from '../../agents/revise.ts';
import { ruleDispute } from '../../agents/rule-dispute.ts';
import type { Dispute } from '../../agents/capabilities.ts';
import type { Verification } from '../../findings/verification.ts';
import { finding } from './fake-team.ts';

const findings = ['right', 'wrong', 'fine'].map((id) => finding({ id }));
const report = { findings, notes: [], filesSeen: 3, bytesSeen: 30 };

/** A context whose MERCURY refuses the findings named `wrong`, and whose SUN rules as SUN does. */
function contextOf(wrong: readonly string[]) {
  const justifications: string[] = [];
  const ask = async (_: unknown, input: unknown, options: { justification?: string } = {}) => {
    justifications.push(options.justification ?? '');
    if ('disputed' in (input as object)) return ruleDispute(input as Dispute);
    const given = (input as { findings: typeof findings }).findings;
    const rejected = given
      .filter(({ id }) => wrong.includes(id))
      .map((one) => ({ finding: one, reason: 'no' }));
    const approved = given.filter(({ id }) => !wrong.includes(id));
    return { verdict: 'NEEDS REVISION', approved, rejected, feedback: '' } satisfies Verification;
  };
  const ctx = { self: 'mars', ask } as unknown as Pick<HandlingContext, 'ask' | 'self'>;
  return { ctx, justifications };
}

describe('an agent whose result MERCURY refused', () => {
  it('hands the first one in without asking anybody', async () => {
    const { ctx, justifications } = contextOf(['wrong']);
    expect(await revised(report, { root: '/r' }, ctx)).toBe(report);
    expect(justifications).toEqual([]);
  });

  it('shows the next one to MERCURY, with its reasons for asking above its tier', async () => {
    const { ctx, justifications } = contextOf([]);
    expect(await revised(report, { root: '/r', feedback: 'line 3' }, ctx)).toBe(report);
    expect(justifications).toEqual(['my last answer was refused: line 3']);
  });

  it('takes what is still disputed to SUN, and withdraws it, saying so', async () => {
    const { ctx, justifications } = contextOf(['wrong']);
    const { findings: left, notes } = await revised(report, { root: '/r', feedback: 'line 3' }, ctx);
    expect(left.map(({ id }) => id)).toEqual(['right', 'fine']);
    expect(notes).toEqual([
      {
        kind: 'withdrawn',
        file: 'a.ts',
        reason: 'planted in line 3: no; 1 of 3 findings of mars do not hold: they are withdrawn',
      },
    ]);
    expect(justifications[1]).toBe('I find again what MERCURY refuses: 1 of 3');
  });

  it('refuses the task for good when most of it does not hold', async () => {
    const { ctx } = contextOf(['wrong', 'fine']);
    await expect(revised(report, { root: '/r', feedback: 'line 3' }, ctx)).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('the rest is not to be trusted'),
    });
  });
});
