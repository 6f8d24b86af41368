import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pageOf, SampleFolder, samplesOf, typeFaults } from '../fixtures/samples.ts';

const RECIPES = new URL('../../docs/recipes/', import.meta.url);
const PAGES = readdirSync(RECIPES).map((name) => `docs/recipes/${name}`);
const pages = PAGES.map((path) => ({ path, folder: new SampleFolder(), samples: samplesOf(pageOf(path)) }));
const programs = pages.flatMap(({ path, folder, samples }) =>
  samples.map(({ name, code, prints }, at) => ({
    folder,
    prints,
    file: name ?? `sample-${at + 1}.ts`,
    code,
    title: `${path.replace('docs/', '')} ${at + 1}`,
  })),
);

describe('the samples of the pages', () => {
  beforeAll(() => {
    for (const { folder, file, code } of programs) folder.write(file, code);
  });
  afterAll(() => {
    for (const { folder } of pages) folder[Symbol.dispose]();
  });

  it('have the types that they need', () => {
    expect(typeFaults(programs.map(({ folder, file }) => `${folder.path}/${file}`))).toEqual([]);
  });

  it.each(programs.filter(({ prints }) => prints !== undefined))(
    '$title prints what the page says',
    async ({ folder, file, prints }) => {
      expect(await folder.run(file)).toBe(prints);
    },
  );
});
