import { describe, expect, it } from 'vitest';
import { auditRules, refuseUnknownRules } from '../../audit-rules.ts';

const RULES = ['oxlint/typescript/no-floating-promises', 'tsc/TS*', 'tsc/syntax-*', 'secretlint/aws'];

describe('the names that --rule takes where the mission is the audit', () => {
  it.each([
    'oxlint',
    'oxlint/typescript',
    'oxlint/typescript/no-floating-promises',
    'tsc',
    'tsc/TS2322',
    'tsc/syntax-1005',
  ])('%s is a rule, or what rules begin with', (name) => {
    expect(() => refuseUnknownRules([name], RULES)).not.toThrow();
  });

  it.each([
    ['nosuchrule', ', see docs/audit-tools.md'],
    ['secretlint/asw', '; did you mean "secretlint/aws"?'],
    ['oxlnt', '; did you mean "oxlint"?'],
    ['tsc/TS', ', see docs/audit-tools.md'],
    ['oxlint/type', ', see docs/audit-tools.md'],
  ])('%s is none', (name, hint) => {
    expect(() => refuseUnknownRules(['tsc', name], RULES)).toThrow(
      expect.objectContaining({
        code: 'USAGE',
        message: `Option "--rule" is "${name}", and the audit has no such rule or tool${hint}`,
      }),
    );
  });

  it('are those of its tools', async () => {
    expect(await auditRules()).toEqual(expect.arrayContaining(['tsc/TS*', 'secretlint/aws']));
  });
});
