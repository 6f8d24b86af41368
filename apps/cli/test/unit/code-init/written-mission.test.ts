import { BACKENDS } from 'orrery/coding';
import { parseMission } from '@orrery/ralph-loop';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { codingMission, REASONS } from '../../../code-init/coding-mission.ts';
import { foundGates } from '../../../code-init/found-gates.ts';
import { freeBranch, plainName } from '../../../code-init/mission-names.ts';
import { yamlText } from '../../../code-init/yaml-text.ts';

const place = { name: 'shop', branch: 'orrery/shop', base: 'main' };
const found = foundGates(
  { paths: new Set(['go.mod']), text: () => '' },
  { file: 'mission.yaml', missions: [] },
);

describe('codingMission', () => {
  it.each(Object.values(BACKENDS).map(({ id, tells }) => [id as keyof typeof BACKENDS, tells] as const))(
    'gives %s a cap of what it tells, and of nothing else (F-04)',
    (id, tells) => {
      const { limits, code } = parseMission(JSON.stringify(codingMission(id, found, place)), 'mission.json');
      for (const caps of [limits, code?.limits])
        expect([caps?.maxTokens !== undefined, caps?.maxCostUsd !== undefined]).toEqual([
          tells.includes('tokens'),
          tells.includes('costUsd'),
        ]);
      expect(limits).toMatchObject({ maxAttempts: 3, timeoutMs: 14_400_000 });
      expect(code?.backends).toEqual([id]);
    },
  );

  it('gives a program that speaks ACP no cap of usage, because none could be kept', () => {
    const backend = { id: 'codex-acp', command: ['codex-acp'], acp: true };
    const { limits, code } = parseMission(
      JSON.stringify(codingMission(backend, found, place)),
      'mission.json',
    );
    expect(limits).toEqual({
      maxAttempts: 3,
      maxFailuresInARow: 9,
      timeoutMs: 14_400_000,
      maxParallel: 2,
    });
    expect(code?.limits).toEqual({ timeoutMs: 1_800_000 });
  });

  it('says why each field is as it is, and all of these are fields that it has', () => {
    const text = yamlText(codingMission('claude', { ...found, setup: 'npm ci' }, place), REASONS);
    for (const reason of Object.values(REASONS)) expect(text).toContain(`# ${reason.split('\n')[0]}`);
  });
});

describe('yamlText', () => {
  it.each<[string, Parameters<typeof yamlText>[0]]>([
    [
      'texts that look like something else',
      { a: 'true', b: 'no', c: '1.5', d: '', e: '~', f: 'null', g: '- x' },
    ],
    [
      'texts with signs of YAML',
      { a: 'x: y', b: 'x # y', c: '*.js', d: '[a]', e: '"q"', f: "it's", g: '@a', h: '%' },
    ],
    ['line breaks, controls and spaces', { a: 'x\ny', b: '\t', c: ' x ', d: '\u0000\u2028', e: 'a  b' }],
    [
      'nested lists',
      {
        a: [
          [1, 2],
          ['x', { b: [true] }],
        ],
        c: [],
        d: {},
        e: [{ f: {}, g: [] }],
      },
    ],
    ['odd fields', { 'a b': 1, '': 2, '#': 3, true: 4 }],
  ])('is read again as what it was: %s', (_, data) => {
    expect(parse(yamlText(data))).toEqual(data);
  });

  it('has a comment above its field only', () => {
    expect(yamlText({ a: { b: 1 }, b: 2 }, { 'a.b': 'one\ntwo' })).toBe(
      'a:\n  # one\n  # two\n  b: 1\nb: 2\n',
    );
  });
});

describe('plainName and freeBranch', () => {
  it.each([
    ['My Shop', 'My-Shop'],
    ['shop.git', 'shop-git'],
    ['-x..y-', 'x-y'],
    ['...', 'mission'],
    ['店', 'mission'],
  ])('makes %s the name %s', (folder, name) => {
    expect(plainName(folder)).toBe(name);
  });

  it('takes a branch that git can make and that is not there', () => {
    expect(freeBranch('shop', ['main'])).toBe('orrery/shop');
    expect(freeBranch('shop', ['orrery/shop', 'orrery/shop-2'])).toBe('orrery/shop-3');
    expect(freeBranch('shop', ['orrery/shop/old'])).toBe('orrery/shop-2');
    expect(freeBranch('shop', ['orrery'])).toBe('orrery-shop');
  });
});
