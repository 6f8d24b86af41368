import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CheckedKnowledge,
  checkKnowledge,
} from '../../../../../actors/skills/knowledge/check-knowledge.ts';
import type { Constraint } from '../../../../../actors/skills/knowledge/constraint.ts';
import type { RuleSubject } from '../../../../../actors/skills/rules/rule.ts';
import { ADMIN, callerOf, type OpenKnowledge, openKnowledge } from '../../../../fixtures/skills/knowledge.ts';

let knowledge: OpenKnowledge;
beforeEach(async () => {
  knowledge = await openKnowledge();
});
afterEach(() => knowledge.store.close());

const check = (subject: RuleSubject, wanted: Partial<CheckedKnowledge> = {}, tenant = 'acme') =>
  knowledge.views.use(tenant, (view) => checkKnowledge(view, subject, { minSeverity: 'warn', ...wanted }));

const without = (name: string, more: Partial<Constraint> = {}): Constraint => ({
  operator: 'MustNotUse',
  target: 'dependency',
  value: name,
  ...more,
});
const uses = (...names: string[]): RuleSubject => ({ dependencies: names.map((name) => ({ name })) });

describe('A check against knowledge (A-17)', () => {
  it('says which item is violated, where, how badly, and in which words', async () => {
    const constraints = [
      { operator: 'MustNotMatch', target: 'code', value: 'eval\\(', severity: 'block', message: 'No eval' },
    ] as const;
    await knowledge.add({ title: 'Safe code', constraints });
    const files = [
      { path: 'a.ts', content: 'one\neval(two)\n' },
      { path: 'b.ts', content: 'three' },
    ];
    const { violations, ...result } = await check({ files });
    expect(violations).toMatchObject([
      {
        item: { id: 'k1', title: 'Safe code' },
        violation: {
          severity: 'block',
          message: 'No eval',
          constraint: { operator: 'MustNotMatch', target: 'code', value: 'eval\\(' },
          location: { file: 'a.ts', line: 2 },
        },
      },
    ]);
    expect(result).toMatchObject({
      passed: false,
      isValid: false,
      omitted: 0,
      summary: { info: 0, warn: 0, block: 1 },
    });
    expect(await check({ files: files.slice(1) })).toMatchObject({
      passed: true,
      isValid: true,
      violations: [],
    });
  });

  it('passes when nothing blocks, and is valid when nothing is violated at all (C-20)', async () => {
    await knowledge.add({ constraints: [without('a', { severity: 'info' })] });
    await knowledge.add({ constraints: [without('b')] });
    await knowledge.add({
      severity: 'block',
      constraints: [without('c'), without('d', { severity: 'warn' })],
    });
    const verdict = async (...names: string[]) => {
      const { passed, isValid, summary, violations } = await check(uses(...names));
      return { passed, isValid, ...summary, listed: violations.map(({ violation }) => violation.severity) };
    };
    expect(await verdict()).toEqual({ passed: true, isValid: true, info: 0, warn: 0, block: 0, listed: [] });
    expect(await verdict('a')).toEqual({
      passed: true,
      isValid: false,
      info: 1,
      warn: 0,
      block: 0,
      listed: [],
    });
    expect(await verdict('b', 'd')).toEqual({
      passed: true,
      isValid: false,
      info: 0,
      warn: 2,
      block: 0,
      listed: ['warn', 'warn'],
    });
    expect(await verdict('a', 'b', 'c')).toEqual({
      passed: false,
      isValid: false,
      info: 1,
      warn: 1,
      block: 1,
      listed: ['block', 'warn'],
    });
    expect((await check(uses('a'), { minSeverity: 'info' })).violations).toHaveLength(1);
    expect((await check(uses('b', 'c'), { minSeverity: 'block' })).violations).toHaveLength(1);
  });

  it('tells of violations alike in the order in which the items were changed, whatever their ids', async () => {
    const { add, items } = knowledge;
    const added: string[] = [];
    for (let at = 0; at < 12; at++) added.push((await add({ constraints: [without('a')] })).id);
    const told = async () => (await check(uses('a'))).violations.map(({ item }) => item.id);
    expect([...added].sort()).not.toEqual(added);
    expect(await told()).toEqual(added);
    const [first = '', ...others] = added;
    await items.remove(ADMIN, first);
    expect(await told()).toEqual(others);
    expect(await check(uses('a'), { ids: others.toReversed() })).toMatchObject({
      checked: others.map((id) => ({ id })),
    });
  });

  it('checks what is accepted, and holds still', async () => {
    const { add, items } = knowledge;
    const constraints = [without('a')];
    for (const status of ['draft', 'proposed', 'rejected', 'deprecated', 'superseded'] as const)
      await add({ status, constraints });
    const old = await add({ constraints });
    expect((await check(uses('a'))).violations.map(({ item }) => item.id)).toEqual([old.id]);
    const next = await add({ supersedes: [old.id] });
    expect(await check(uses('a'))).toMatchObject({ isValid: true, checked: [{ id: next.id }] });
    await items.setStatus(ADMIN, next.id, 'deprecated');
    expect(await check(uses('a'))).toMatchObject({ isValid: false });
  });

  it('checks the layer that is named and wider ones, and the scopes that are named and none', async () => {
    const { add } = knowledge;
    const constraints = [without('a')];
    await add({ layer: 'project', scope: 'shop', constraints });
    await add({ layer: 'team', scope: 'web', constraints });
    await add({ layer: 'company', constraints });
    const checked = async (wanted: Partial<CheckedKnowledge>) =>
      (await check(uses('a'), wanted)).violations.map(({ item }) => item.id);
    expect(await checked({})).toEqual(['k1', 'k2', 'k3']);
    expect(await checked({ layer: 'team' })).toEqual(['k2', 'k3']);
    expect(await checked({ scopes: ['shop'] })).toEqual(['k1', 'k3']);
    expect(await checked({ scopes: [] })).toEqual(['k3']);
    expect(await checked({ ids: ['k2', 'k2'] })).toEqual(['k2']);
  });

  it('names ids that are of no item of the tenant, or of none that is accepted', async () => {
    const { add } = knowledge;
    await add({ status: 'draft' });
    await add({}, callerOf('admin', 'globex'));
    await expect(check(uses('a'), { ids: ['k9', 'k1', 'k2'] })).rejects.toMatchObject({
      code: 'REFUSED',
      message: 'There is no knowledge item "k9", "k2"',
    });
    await expect(check(uses('a'), { ids: ['k1'] })).rejects.toMatchObject({
      message: 'The knowledge item "k1" is draft: only what is accepted is checked',
    });
  });

  it('lists a thousand violations, and counts the rest', async () => {
    const value = ['v', 'w', 'x', 'y', 'z'];
    const constraints = [{ operator: 'MustNotMatch', target: 'code', value }] as const;
    for (let at = 0; at < 12; at++) await knowledge.add({ title: `Rule ${at}`, constraints });
    const content = value.join('\n');
    const { violations, omitted, summary } = await check({
      files: Array.from({ length: 20 }, (_, at) => ({ path: `${at}.ts`, content })),
    });
    expect([violations.length, omitted, summary.warn]).toEqual([1_000, 200, 1_200]);
  });
});
