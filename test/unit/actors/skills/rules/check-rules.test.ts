import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkRules, judgeRules } from '../../../../../actors/skills/rules/check-rules.ts';
import { type CompiledRule, compileRule } from '../../../../../actors/skills/rules/compile-rule.ts';
import { Rule, type RuleSubject } from '../../../../../actors/skills/rules/rule.ts';

type Given = Partial<Rule> & Pick<Rule, 'target' | 'operator' | 'value'>;

const compiled = (rule: Given) => compileRule(Rule.parse({ id: 'r', ...rule }));
const judge = (rules: readonly CompiledRule[], subject: RuleSubject) => {
  const judged = judgeRules(rules, subject);
  return {
    violations: judged.flatMap(({ violations }) => violations),
    notJudged: judged.filter(({ isJudged }) => !isJudged).map((each) => each.compiled),
  };
};
const check = (rule: Given, subject: RuleSubject) => checkRules([compiled(rule)], subject);
const isBroken = (rule: Given, subject: RuleSubject): boolean => check(rule, subject).length > 0;

const PROJECT: RuleSubject = {
  files: [
    { path: 'README.md', content: '# Read me\n' },
    {
      path: './src/deep/main.ts',
      content: "import { map } from 'lodash/fp';\nimport 'node:fs';\neval('1');\n",
    },
    { path: 'tools\\run.py', content: 'import os.path\n' },
  ],
  dependencies: [{ name: 'lodash', version: '4.17.21' }, { name: '@acme/core' }],
  imports: ['react'],
  config: {
    compiler: { strict: true, loose: false, target: 'ES2024', none: null, 'a.b': { c: 1 } },
    list: ['x'],
  },
};

/** What is there, by `MustUse`, `MustMatch` and `MustExist`. */
const FOUND: readonly [Rule['target'], 'Use' | 'Match' | 'Exist', string][] = [
  ['file', 'Use', 'README.md'],
  ['file', 'Use', 'src/**/*.ts'],
  ['file', 'Exist', 'src/'],
  ['file', 'Exist', './tools/run.py'],
  ['file', 'Match', '^tools/[a-z]+\\.py$'],
  ['code', 'Use', 'eval'],
  ['code', 'Match', '^import .*node:'],
  ['code', 'Exist', "eval('1"],
  ['dependency', 'Use', 'lodash'],
  ['dependency', 'Exist', '@acme/*'],
  ['dependency', 'Match', '^lodash@4\\.'],
  ['dependency', 'Match', '^lodash$'],
  ['import', 'Use', 'lodash'],
  ['import', 'Use', 'fs'],
  ['import', 'Use', 'node:fs'],
  ['import', 'Use', 'os'],
  ['import', 'Exist', 'lodash/fp'],
  ['import', 'Match', '^os\\.'],
  ['import', 'Use', 'react'],
  ['config', 'Use', 'compiler.strict'],
  ['config', 'Use', 'compiler.a.b.c'],
  ['config', 'Exist', 'compiler.loose'],
  ['config', 'Exist', 'compiler.none'],
  ['config', 'Match', '^compiler\\.target=ES202[4-9]$'],
  ['config', 'Match', '^list\\.0=x$'],
];

/** What is not. */
const NOT_FOUND: readonly [Rule['target'], 'Use' | 'Match' | 'Exist', string][] = [
  ['file', 'Use', 'main.ts'],
  ['file', 'Use', '*.ts'],
  ['file', 'Exist', 'LICENSE'],
  ['file', 'Match', '\\.go$'],
  ['code', 'Use', 'eva'],
  ['code', 'Match', '^eval.*;.+$'],
  ['code', 'Exist', 'EVAL'],
  ['dependency', 'Use', 'lod'],
  ['dependency', 'Exist', 'acme/core'],
  ['dependency', 'Match', '^lodash@3'],
  ['import', 'Use', 'lod'],
  ['import', 'Exist', 'lodash'],
  ['import', 'Match', '^lodash$'],
  ['import', 'Use', 'node:test'],
  ['config', 'Use', 'compiler.loose'],
  ['config', 'Use', 'compiler.none'],
  ['config', 'Exist', 'toString'],
  ['config', 'Exist', 'compiler.__proto__'],
  ['config', 'Match', 'ES2025'],
];

describe('Rules (A-17, A-18)', () => {
  it.each(FOUND)('find %s by %s: %s', (target, how, value) => {
    expect(isBroken({ target, operator: `Must${how}`, value }, PROJECT)).toBe(false);
    expect(isBroken({ target, operator: `MustNot${how}`, value }, PROJECT)).toBe(true);
    expect(isBroken({ target, operator: `Must${how}`, value, ruleType: 'deny' }, PROJECT)).toBe(true);
  });

  it.each(NOT_FOUND)('do not find %s by %s: %s', (target, how, value) => {
    expect(isBroken({ target, operator: `Must${how}`, value }, PROJECT)).toBe(true);
    expect(isBroken({ target, operator: `MustNot${how}`, value }, PROJECT)).toBe(false);
    expect(isBroken({ target, operator: `Must${how}`, value, ruleType: 'deny' }, PROJECT)).toBe(false);
  });

  it('count each value of a list', () => {
    const wanted = { target: 'dependency', operator: 'MustUse', value: ['lodash', 'zod', 'ajv'] } as const;
    expect(check(wanted, PROJECT).map(({ constraint }) => constraint.value)).toEqual(['zod', 'ajv']);
    const unwanted = { ...wanted, ruleType: 'deny', value: ['lodash', 'zod', '@acme/core'] } as const;
    expect(check(unwanted, PROJECT).map(({ found }) => found)).toEqual(['lodash@4.17.21', '@acme/core']);
  });

  it('say file and line of what is found in a text, and the file of a path', () => {
    const at = (target: Rule['target'], operator: Rule['operator'], value: string) =>
      check({ target, operator, value }, PROJECT)[0]?.location;
    expect(at('code', 'MustNotUse', 'eval')).toEqual({ file: 'src/deep/main.ts', line: 3 });
    expect(at('code', 'MustNotMatch', '^eval')).toEqual({ file: 'src/deep/main.ts', line: 3 });
    expect(at('import', 'MustNotUse', 'fs')).toEqual({ file: 'src/deep/main.ts', line: 2 });
    expect(at('file', 'MustNotExist', '**/*.py')).toEqual({ file: 'tools/run.py' });
    expect(at('dependency', 'MustNotUse', 'lodash')).toBeUndefined();
  });

  it('say what they were told to, or a sentence with the facts', () => {
    const rule = { target: 'dependency', operator: 'MustNotMatch', value: '^lo' } as const;
    expect(check(rule, PROJECT)[0]?.message).toBe(
      'There is a dependency that matches "^lo", and there must not be: lodash@4.17.21',
    );
    expect(check({ ...rule, message: 'Use es-toolkit' }, PROJECT)[0]?.message).toBe('Use es-toolkit');
    expect(check({ target: 'file', operator: 'MustExist', value: 'LICENSE' }, PROJECT)[0]?.message).toBe(
      'There is no file "LICENSE", and there must be',
    );
  });

  it('tell nothing of what a text or a setting says', () => {
    const secret = { files: [{ path: 'a.ts', content: 'key = "AKIA123"' }], config: { key: 'AKIA123' } };
    for (const target of ['code', 'config'] as const) {
      const violations = check({ target, operator: 'MustNotMatch', value: 'AKIA' }, secret);
      expect(violations).toHaveLength(1);
      expect(JSON.stringify(violations)).not.toContain('AKIA123');
    }
  });

  it('are told from the least severity on that is asked for', () => {
    const rules = (['info', 'warn', 'block'] as const).map((severity) =>
      compiled({ id: severity, severity, target: 'file', operator: 'MustExist', value: 'x' }),
    );
    const ids = (minSeverity?: Rule['severity']) =>
      checkRules(rules, { files: [] }, { minSeverity }).map(({ ruleId }) => ruleId);
    expect(ids()).toEqual(['info', 'warn', 'block']);
    expect(ids('warn')).toEqual(['warn', 'block']);
    expect(ids('block')).toEqual(['block']);
  });
});

describe('What is not known (A-18)', () => {
  const OPERATORS = Rule.shape.operator.options;
  const TARGETS = Rule.shape.target.options;

  it('breaks no rule, and leaves each one that is about it not judged', () => {
    const rules = OPERATORS.flatMap((operator) =>
      TARGETS.map((target) => compiled({ id: `${operator} ${target}`, target, operator, value: 'x' })),
    );
    const { violations, notJudged } = judge(rules, {});
    expect(violations).toEqual([]);
    expect(notJudged).toEqual(rules);
  });

  it.each<[Given, RuleSubject]>([
    [{ target: 'file', operator: 'MustExist', value: 'LICENSE' }, { files: [] }],
    [{ target: 'dependency', operator: 'MustUse', value: 'zod' }, { dependencies: [] }],
    [{ target: 'import', operator: 'MustUse', value: 'zod' }, { imports: [] }],
    [{ target: 'config', operator: 'MustExist', value: 'strict' }, { config: {} }],
  ])('is told from what is known to be empty: %o', (rule, subject) => {
    expect(judge([compiled(rule)], subject)).toMatchObject({
      violations: [{ ruleId: 'r' }],
      notJudged: [],
    });
  });

  it('may be in a text that was not given', () => {
    const some = [{ path: 'a.ts', content: "import 'fs'" }, { path: 'b.ts' }];
    for (const target of ['code', 'import'] as const) {
      const wanted = compiled({ target, operator: 'MustUse', value: 'zod' });
      expect(judge([wanted], { files: some })).toEqual({ violations: [], notJudged: [wanted] });
      const unwanted = compiled({ target, operator: 'MustNotUse', value: 'fs' });
      const { violations, notJudged } = judge([unwanted], { files: some });
      expect(violations).toHaveLength(1);
      expect(notJudged).toEqual([unwanted]);
      const there = compiled({ target, operator: 'MustUse', value: 'fs' });
      expect(judge([there], { files: some })).toEqual({ violations: [], notJudged: [] });
    }
  });

  it('is what files of languages import that are not read', () => {
    const wanted = compiled({ target: 'import', operator: 'MustUse', value: 'fmt' });
    const files = [{ path: 'main.go', content: 'import "os"' }];
    expect(judge([wanted], { files }).notJudged).toEqual([wanted]);
  });
});

describe('Rules that cannot be', () => {
  it.each<[string, Given, RegExp]>([
    [
      'a bad pattern',
      { target: 'code', operator: 'MustMatch', value: '(' },
      /rule "r"\.value is "\(".*missing closing/,
    ],
    [
      'a bad pattern of many',
      { target: 'file', operator: 'MustNotMatch', value: ['a', '(?=b)'] },
      /\(\?=b\)/,
    ],
    ['a reference back', { target: 'code', operator: 'MustNotMatch', value: '(a)\\1' }, /RE2/],
    [
      'a count beyond bounds',
      { target: 'code', operator: 'MustMatch', value: '((a{100}){100}){100}' },
      /RE2/,
    ],
    [
      'deny twice',
      { target: 'code', operator: 'MustNotUse', value: 'x', ruleType: 'deny' },
      /MustNotUse, which denies already/,
    ],
    ['a version', { target: 'dependency', operator: 'MustNotUse', value: 'lodash@<4' }, /without a version/],
  ])('are refused when they are compiled: %s', (_, rule, message) => {
    expect(() => compiled(rule)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringMatching(message) }),
    );
  });
});

describe('Checking takes time in proportion to the text', () => {
  const check1MB = (value: string, text: string, operator: Rule['operator'] = 'MustMatch') => {
    const content = text.repeat(Math.ceil(1_000_000 / text.length));
    const begun = performance.now();
    const violations = check({ target: 'code', operator, value }, { files: [{ path: 'a.ts', content }] });
    return { ms: performance.now() - begun, isBroken: violations.length > 0 };
  };

  it.each([
    ['(a+)+$', 'a'],
    ['(a+)+b$', 'a'],
    ['(a|a)*c$|x', 'ab'],
    ['(x+x+)+y', 'x'],
    ['(.*)*,(.*)*;', 'a,'],
  ])('for the pattern %s', (pattern, text) => {
    expect(check1MB(pattern, text).ms).toBeLessThan(5_000);
  });

  it('for words that nearly are there', () => {
    const word = 'a'.repeat(300);
    expect(check1MB(word, 'a', 'MustUse')).toEqual({ ms: expect.any(Number), isBroken: true });
    expect(check1MB(word, 'a', 'MustUse').ms).toBeLessThan(2_000);
  });

  it('and is refused where that would be too long', () => {
    const rule = compiled({ target: 'code', operator: 'MustMatch', value: '(?:a[ab]{200}b|b[ab]{300}a)c?$' });
    const files = [{ path: 'a', content: 'ab'.repeat(500_000) }];
    expect(() => checkRules([rule, rule], { files })).toThrow(expect.objectContaining({ code: 'REFUSED' }));
  });

  it('and tells a bounded number of violations', () => {
    const imports = Array.from({ length: 5_000 }, (_, at) => `x/${at}`);
    expect(check({ target: 'import', operator: 'MustNotUse', value: 'x' }, { imports })).toHaveLength(20);
  });
});

describe('A rule and what denies it', () => {
  const Names = fc.array(fc.constantFrom('a', 'b', 'c', 'ab', '@x/a'), { maxLength: 5 });

  it('are never both broken, nor both kept, whatever is there', () => {
    fc.assert(
      fc.property(
        Names,
        fc.constantFrom<Rule['target']>('file', 'dependency', 'import'),
        fc.constantFrom('Use', 'Match', 'Exist'),
        fc.constantFrom('a', 'b', '@x/*', 'zz'),
        (names, target, how, value) => {
          const subject: RuleSubject = {
            files: names.map((path) => ({ path })),
            dependencies: names.map((name) => ({ name })),
            imports: names,
          };
          const wanted = isBroken({ target, operator: `Must${how}` as Rule['operator'], value }, subject);
          const not = isBroken({ target, operator: `MustNot${how}` as Rule['operator'], value }, subject);
          expect(wanted).toBe(!not);
        },
      ),
    );
  });
});
