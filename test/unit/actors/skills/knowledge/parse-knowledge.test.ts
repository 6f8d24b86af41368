import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnowledgeDocument } from '../../../../../actors/skills/knowledge/knowledge-document.ts';
import {
  type KnowledgeFile,
  parseKnowledge,
} from '../../../../../actors/skills/knowledge/parse-knowledge.ts';
import { writeKnowledge } from '../../../../../actors/skills/knowledge/write-knowledge.ts';
import { SoundRule } from '../../../../../actors/skills/rules/compile-rule.ts';

const read = (front: string, content = '') => parseKnowledge('adr/one.md', `---\n${front}\n---\n${content}`);
const faultsOf = (front: string) => read(front).faults?.map(({ message }) => message);
const HEAD = 'type: adr\ntitle: Use SQLite';

describe('A file of knowledge', () => {
  it('says in YAML what it is, and the rest in Markdown', () => {
    const { item } = read(
      `id: adr-1
type: policy
title: No eval
status: accepted
layer: team
scope: payments
tags: [security, code]
summary: Nobody calls eval
severity: block
supersedes: [adr-0]
supersededBy: adr-2
metadata: { reviewed: 2026-01-02, votes: 3 }
constraints:
  - { id: eval, operator: MustNotMatch, target: code, pattern: '\\beval\\(', message: No eval }
  - { operator: MustNotUse, target: dependency, value: [left-pad, request], severity: info }`,
      '\n# Why\n\n---\n\nBecause.\n',
    );
    expect(item).toEqual({
      id: 'adr-1',
      type: 'policy',
      title: 'No eval',
      status: 'accepted',
      layer: 'team',
      scope: 'payments',
      tags: ['security', 'code'],
      summary: 'Nobody calls eval',
      severity: 'block',
      supersedes: ['adr-0'],
      supersededBy: 'adr-2',
      metadata: { reviewed: '2026-01-02', votes: 3 },
      constraints: [
        { id: 'eval', operator: 'MustNotMatch', target: 'code', value: '\\beval\\(', message: 'No eval' },
        { operator: 'MustNotUse', target: 'dependency', value: ['left-pad', 'request'], severity: 'info' },
      ],
      content: '# Why\n\n---\n\nBecause.',
    });
  });

  it('is a draft, and is called after its path, when it says nothing of that', () => {
    expect(parseKnowledge('adr/0001 use SQLite.md', `---\n${HEAD}\n---\n`).item).toMatchObject({
      id: 'adr/0001-use-SQLite',
      status: 'draft',
      content: '',
    });
  });

  it('may have the ends of lines of Windows, and a mark of byte order', () => {
    const text = `\uFEFF---\r\ntype: adr\r\ntitle: Use SQLite\r\n---\r\n\r\nA\r\nB\r\n`;
    expect(parseKnowledge('a.md', text).item).toMatchObject({ title: 'Use SQLite', content: 'A\r\nB' });
  });

  it.each([
    ['type: memo\ntitle: x', ['type is "memo", expected "adr", "policy", "pattern", "spec" or "hindsight"']],
    ['title: x', ['type is missing, expected "adr", "policy", "pattern", "spec" or "hindsight"']],
    [
      `${HEAD}\nstatus: final\nlayer: planet`,
      [
        'status is "final", expected "draft", "proposed", "accepted", "deprecated", "superseded" or "rejected"',
        'layer is "planet", expected "project", "team", "org" or "company"',
      ],
    ],
    ['type: adr\ntitle: 7', ['title is 7, expected a text']],
    [`${HEAD}\nseverty: block`, ['severty is "block", expected no field of this name']],
    [`${HEAD}\ncontent: in the head`, ['content is in the YAML at its head, expected behind it']],
    [`${HEAD}\nid: 'a#1'`, ['id is "a#1", expected a letter or digit, and then of these and . _ / : @ + -']],
    [`${HEAD}\nscope: " x"`, ['scope is " x", expected one line, without white space around it']],
    [`${HEAD}\nmetadata: { __proto__: 1 }`, [expect.stringContaining('__proto__')]],
    [`${HEAD}\nsummary: "a\\0b"`, [expect.stringContaining('without NUL')]],
    [`${HEAD}\nsummary: "\\uD800"`, [expect.stringMatching(/without NUL|cannot be read/)]],
    [
      `${HEAD}\nconstraints: [{ operator: MustBe, target: code, value: x }]`,
      [expect.stringContaining('constraints[0].operator is "MustBe", expected "MustUse"')],
    ],
    [
      `${HEAD}\nconstraints: [{ operator: MustUse, target: code, pattern: 7 }]`,
      [expect.stringContaining('constraints[0].pattern is 7')],
    ],
    [
      `${HEAD}\nconstraints: [{ operator: MustUse, target: code, pattern: a, value: b }]`,
      ['constraints[0].pattern is "a", expected no field of this name'],
    ],
    [
      `${HEAD}\nconstraints: [{ operator: MustMatch, target: code, pattern: "(" }]`,
      [expect.stringMatching(/^constraints\[0\] is no rule: .*"\("/)],
    ],
    [
      `${HEAD}\nconstraints: [{ id: '2', operator: MustUse, target: code, value: a }, { operator: MustUse, target: code, value: b }]`,
      [expect.stringContaining('"2" is another one\'s')],
    ],
  ])('names field and value of a fault: %s', (front, faults) => {
    expect(faultsOf(front)).toEqual(faults);
    expect(read(front).faults?.[0]?.file).toBe('adr/one.md');
  });

  it.each([
    ['# A README', 'it does not begin with YAML'],
    ['---\ntype: adr\ntitle: x\n', 'is not closed'],
    ['---\n---\n', 'has no fields'],
    ['---\n- a\n---\n', 'has no fields'],
    ['---\ntype: [adr\n---\n', 'cannot be read'],
    ['---\ntype: adr\ntype: policy\n---\n', 'cannot be read: Map keys must be unique at line 2'],
    ['---\ntype: !secret adr\ntitle: x\n---\n', 'cannot be read: Unresolved tag'],
    ['---\n? [a]\n: b\n---\n', 'cannot be read'],
    ['---\n%YAML 1.1\ntype: adr\n---\n', 'cannot be read'],
    ['---\ntype: adr\n...\ntitle: x\n---\n', 'cannot be read'],
  ])('is at fault as a whole: %j', (text, fault) => {
    expect(parseKnowledge('a.md', text).faults).toEqual([
      { file: 'a.md', message: expect.stringContaining(fault) },
    ]);
  });

  it('has no anchors and aliases, of which a few lines make millions', () => {
    const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
    for (let n = 1; n < 10; n++)
      bomb.push(`a${n}: &a${n} [${Array.from({ length: 9 }, () => `*a${n - 1}`).join(', ')}]`);
    expect(faultsOf(bomb.join('\n'))).toEqual([expect.stringContaining('an anchor or an alias')]);
    expect(faultsOf(`${HEAD}\nsummary: &a one`)).toEqual([expect.stringContaining('an anchor or an alias')]);
    expect(faultsOf('a: &a [*a]')).toEqual([expect.stringContaining('an anchor or an alias')]);
  });

  it('is at fault where its YAML is deep or long, whatever the reader makes of it', () => {
    expect(faultsOf(`tags: ${'['.repeat(8_000)}`)).toEqual([expect.stringContaining('cannot be read')]);
    expect(faultsOf(`${HEAD}\nsummary: ${'x'.repeat(17_000)}`)).toEqual([
      expect.stringContaining('expected at most 16384'),
    ]);
  });

  it('is read or at fault, whatever is in it', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }).map((front) => `---\n${front}\n---\n`),
      fc
        .array(
          fc.constantFrom('---\n', 'type: adr\n', 'title: a\n', '&a ', '*a', '- ', '[', '{', ': ', '"', '\n'),
        )
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (given) => {
        const { item, faults } = parseKnowledge('a.md', given);
        expect(item === undefined).toBe(faults !== undefined && faults.length > 0);
      }),
      { numRuns: 200 },
    );
  });

  it('says the same when it is written and read again', () => {
    fc.assert(
      fc.property(arbItem, (item) => {
        const written = writeKnowledge(item);
        expect(parseKnowledge('else.md', written)).toEqual({ item });
        expect(writeKnowledge(item)).toBe(written);
      }),
      { numRuns: 200 },
    );
  });
});

const UNITS = [
  'a',
  'Z',
  '0',
  ' ',
  '-',
  '---',
  '\n',
  '\r',
  '\t',
  '"',
  "'",
  '#',
  ':',
  ': ',
  '|',
  '>',
  '*',
  '&',
  '!',
  '%',
  '@',
  '`',
  '\\',
  '\u0085',
  '\u2028',
  '\uFEFF',
  'é',
  '😀',
  '{',
  '[',
  ',',
  '~',
  '?',
  'true',
  'null',
  '1e3',
  '0x1',
  '.',
  '<<',
  '\u0007',
];
const texts = fc.oneof(
  fc.array(fc.constantFrom(...UNITS), { maxLength: 12 }).map((parts) => parts.join('')),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('2026-01-02', '1', 'yes', 'no', '.inf', '=', 'a\n\nb', '12:30:45'),
);
const lines = texts
  .map((text) => text.replace(/[\r\n\u2028\u2029]/g, '').trim())
  .filter((text) => text !== '' && text.isWellFormed());
const ids = fc.stringMatching(/^[a-z0-9][a-z0-9._/:@+-]{0,12}$/);
const constraint = fc
  .record(
    {
      operator: fc.constantFrom('MustUse', 'MustNotUse', 'MustExist', 'MustNotExist'),
      target: fc.constantFrom('file', 'code', 'dependency', 'import', 'config'),
      value: fc.oneof(
        texts.filter((text) => text !== ''),
        fc.array(
          texts.filter((text) => text !== ''),
          { minLength: 1, maxLength: 3 },
        ),
      ),
      severity: fc.constantFrom('info', 'warn', 'block'),
      message: texts.filter((text) => text !== ''),
    },
    { requiredKeys: ['operator', 'target', 'value'] },
  )
  .filter((given) => isRule(given));

function isRule(given: unknown): boolean {
  return SoundRule.safeParse({ id: 'x', ...(given as object) }).success;
}

const arbItem = fc
  .record(
    {
      id: ids,
      type: fc.constantFrom('adr', 'policy', 'pattern', 'spec', 'hindsight'),
      title: lines,
      status: fc.constantFrom('draft', 'accepted', 'superseded'),
      layer: fc.constantFrom('project', 'company'),
      scope: fc.oneof(fc.constant(''), lines),
      tags: fc.array(lines, { maxLength: 3 }),
      summary: lines,
      severity: fc.constantFrom('info', 'block'),
      supersedes: fc.array(ids, { maxLength: 2 }),
      supersededBy: ids,
      constraints: fc.array(constraint, { maxLength: 3 }),
      metadata: fc.dictionary(
        fc.stringMatching(/^[A-Za-z][\w.-]{0,5}$/),
        fc.oneof(
          texts,
          fc.double({ noNaN: true, noDefaultInfinity: true }),
          fc.boolean(),
          fc.array(texts, { maxLength: 2 }),
        ),
        { maxKeys: 3, noNullPrototype: true },
      ),
      content: texts,
    },
    { requiredKeys: ['id', 'type', 'title'] },
  )
  .map((fields) => KnowledgeDocument.parse(fields) as KnowledgeFile);
