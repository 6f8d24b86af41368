import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelServer, startModelServer } from '../fixtures/model-server.ts';
import { pageOf, SampleFolder, samplesOf, typeFaults } from '../fixtures/samples.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RECIPES = readdirSync(new URL('../../docs/recipes/', import.meta.url)).filter(
  (name) => name !== 'README.md',
);
const PAGES = [
  'README.md',
  'docs/start.md',
  'docs/parts-on-their-own.md',
  ...RECIPES.map((name) => `docs/recipes/${name}`),
];

/** Each page has a folder of its own, for the files that it names. */
const samples = PAGES.flatMap((page) => {
  const folder = new SampleFolder();
  return samplesOf(pageOf(page)).map((sample, at) => ({
    ...sample,
    page,
    folder,
    file: sample.name ?? `sample-${at + 1}.ts`,
    nth: at + 1,
  }));
});
const programs = samples.filter(({ prints }) => prints !== undefined);

describe('the samples of the pages (F-12)', () => {
  let model: ModelServer;

  beforeAll(async () => {
    for (const { folder, file, code } of samples) folder.write(file, code);
    // The one that asks a model asks this one, which has learnt its part by heart.
    model = await startModelServer();
    model.script([
      { calls: [{ id: 'a', name: 'io__sky_distance', args: '{"planet":"Mars"}' }] },
      { text: 'Mars is 228 million kilometres from the Sun.' },
    ]);
  });
  afterAll(async () => {
    await model[Symbol.asyncDispose]();
    for (const { folder } of samples) folder[Symbol.dispose]();
  });

  it('are whole: each is a program with what it prints, or a file that such a program imports', () => {
    expect(PAGES.filter((path) => !programs.some(({ page }) => page === path))).toEqual([]);
    const isRead = ({ folder, name }: (typeof samples)[number]): boolean =>
      samples.some((other) => other.folder === folder && other.code.includes(`/${name}`));
    const left = samples.filter((sample) => sample.prints === undefined && !isRead(sample));
    expect(left.map(({ page, nth }) => `${page} ${nth}`)).toEqual([]);
  });

  it('have the types that they need', () => {
    expect(typeFaults(samples.map(({ folder, file }) => join(folder.path, file)))).toEqual([]);
  }, 120_000);

  it.each(programs)(
    '$page, program $nth, prints what the page says',
    async ({ folder, file, prints }) => {
      expect(await folder.run(file, { MODEL_URL: model.url })).toBe(prints);
    },
    120_000,
  );
});

describe('docs/recipes', () => {
  it('has an index of all its pages', () => {
    const listed = [...pageOf('docs/recipes/README.md').matchAll(/\]\(([a-z-]+\.md)\)/g)].map(
      ([, name]) => name,
    );
    expect(listed.sort()).toEqual(RECIPES.sort());
  });
});

describe('examples/README.md', () => {
  it('has a row for each program', () => {
    const rows = [...pageOf('examples/README.md').matchAll(/^\| \[([^\]/]+)\/?\]/gm)].map(([, name]) => name);
    const there = readdirSync(join(ROOT, 'examples')).filter((name) => !/\.agent\.ts$|\.md$/.test(name));
    expect(rows.sort()).toEqual(there.sort());
  });
});
