import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scanFiles } from '../../audit/file-scan.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { TESTS_CHECK } from '../../audit/test-quality/tests-check.ts';
import { fixturePath, plantedIn, spotsOf, TemporaryFolder } from './fixture.ts';

const check = (root: string) => scanFiles(root, TESTS_CHECK, new ProgressCounter());

async function rulesFor(file: string, text: string): Promise<string[]> {
  using repo = new TemporaryFolder();
  writeFileSync(join(repo.path, file), text);
  return (await check(repo.path)).findings.map(({ rule }) => rule);
}

describe('SATURN', () => {
  it('finds every test that is planted wrong, and no decoy', async () => {
    const root = fixturePath('saturn');
    const { findings, notes } = await check(root);
    expect(new Set(plantedIn(root).map((spot) => spot.split(' ')[0]))).toEqual(
      new Set(Object.keys(TESTS_CHECK.rules)),
    );
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toEqual([]);
  });

  it('names the line of the test that has the same title', async () => {
    const { findings } = await check(fixturePath('saturn'));
    const twins = findings.filter(({ rule }) => rule === 'tests.duplicate-title');
    expect(twins.map(({ line, message }) => [line, message])).toContainEqual([
      61,
      'The test at line 57 has the same title in the same block',
    ]);
  });

  it('knows the globals of a framework only in files of tests', async () => {
    const text = "it.only('runs', () => expect(run()).toBe(1));\n";
    expect(await rulesFor('run.test.js', text)).toEqual(['tests.focused']);
    expect(await rulesFor('run.js', text)).toEqual([]);
  });

  it.each([
    ["import { test } from 'vitest';\ntest.only('a', () => run());", 'tests.focused'],
    ["const { describe } = require('@jest/globals');\ndescribe.skip('a', () => {});", 'tests.skipped'],
    ["import test from 'ava';\ntest.only('a', (t) => t.pass());", 'tests.focused'],
    ["import * as t from 'node:test';\nt.default.skip('a', () => {});", 'tests.skipped'],
    ["import { it as check } from 'mocha';\ncheck.skip('a', () => { run(); });", 'tests.skipped'],
    [
      "import { test as base } from '@playwright/test';\nconst test = base.extend({});\ntest('a', () => {});",
      'tests.empty',
    ],
    [
      "import { test } from 'vitest';\nconst a = test.extend({}), b = a.extend({});\nb('a', () => {});",
      'tests.empty',
    ],
  ])('knows what declares a test in %s', async (text, rule) => {
    expect(await rulesFor('checks.ts', text)).toContain(rule);
  });

  it('follows fixtures that extend each other in a circle no further', async () => {
    const text = "import 'vitest';\nvar a = b.extend({});\nvar b = a.extend({});\na('a', () => {});\n";
    expect(await rulesFor('circle.test.ts', text)).toEqual([]);
  });

  it('names what it cannot read as a script', async () => {
    using repo = new TemporaryFolder();
    writeFileSync(join(repo.path, 'broken.test.ts'), "it('a', () => {");
    writeFileSync(join(repo.path, 'deep.test.ts'), `expect(${'[\n'.repeat(3_000)}${']'.repeat(3_000)});`);
    writeFileSync(join(repo.path, 'made.test.ts'), "// @generated\nit.only('a', () => run());");
    const { findings, notes } = await check(repo.path);
    expect(findings).toEqual([]);
    expect(notes.map(({ kind, file }) => [kind, file])).toEqual([
      ['unparsable', 'broken.test.ts'],
      ['unparsable', 'deep.test.ts'],
      ['generated', 'made.test.ts'],
    ]);
  });

  it('says that there is nothing to look at', async () => {
    using repo = new TemporaryFolder();
    expect((await check(repo.path)).notes).toMatchObject([{ kind: 'empty' }]);
  });
});
