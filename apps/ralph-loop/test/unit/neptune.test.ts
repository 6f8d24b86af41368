import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkMetrics } from '../../audit/metrics/metrics-check.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { fixturePath, plantedIn, spotsOf, TemporaryFolder } from './fixture.ts';

const check = (root: string) => checkMetrics(root, new ProgressCounter());

describe('NEPTUNE', () => {
  it('finds every metric and console write that is planted, and no decoy', async () => {
    const root = fixturePath('neptune');
    const { findings, notes } = await check(root);
    expect(plantedIn(root).length).toBeGreaterThan(20);
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toEqual([]);
  });

  it('says that there is nothing to look at', async () => {
    using repo = new TemporaryFolder();
    expect((await check(repo.path)).notes).toMatchObject([{ kind: 'empty' }]);
  });

  it('names what it cannot parse, once', async () => {
    using repo = new TemporaryFolder();
    const write = (file: string, text: string) => writeFileSync(join(repo.path, file), text);
    write('metrics.ts', "import 'prom-client'; new Counter(");
    write('package.json', '{ "name": ');
    mkdirSync(join(repo.path, 'list'));
    write('list/package.json', '[]');
    const { findings, notes } = await check(repo.path);
    expect(findings).toEqual([]);
    expect(notes.map(({ kind, file }) => [kind, file])).toEqual([
      ['unparsable', 'metrics.ts'],
      ['unparsable', 'package.json'],
      ['unparsable', 'list/package.json'],
    ]);
  });

  it('follows the imports of a library in a circle', async () => {
    using repo = new TemporaryFolder();
    const write = (file: string, text: string) => writeFileSync(join(repo.path, file), text);
    write('package.json', JSON.stringify({ name: 'round', exports: { '.': './a.js', './*': './sub/*' } }));
    write('a.js', "import './b.js';\nimport '../outside.js';\n");
    write('b.js', "import './a.js';\nconsole.log('here');\n");
    expect(spotsOf((await check(repo.path)).findings)).toEqual(['metrics.console-log b.js:2']);
  });
});
