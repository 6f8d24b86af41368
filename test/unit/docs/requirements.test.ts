import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = new URL('../../..', import.meta.url).pathname;
const ID = /\b[NLXAMCF]-(?:\d+\.\d+|[PDEVT]?\d{2}|\d+)\b/g;

function testFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : testFiles(path);
    return entry.name.endsWith('.ts') ? [path] : [];
  });
}

const listed = new Map(
  [
    ...readFileSync(join(ROOT, 'docs/requirements.md'), 'utf8').matchAll(
      /^\| (\S+) \|.*\| (done|planned) \|$/gm,
    ),
  ].map(([, id, state]) => [id as string, state as string]),
);

const cited = new Set(
  [...testFiles(join(ROOT, 'test')), ...testFiles(join(ROOT, 'apps'))].flatMap((file) =>
    file.endsWith('requirements.test.ts')
      ? []
      : [...readFileSync(file, 'utf8').matchAll(ID)].map(([id]) => id),
  ),
);

describe('docs/requirements.md', () => {
  it('lists every family of ids', () => {
    expect(listed.size).toBeGreaterThan(300);
  });

  it('names a test for every requirement that is done', () => {
    const done = [...listed].filter(([, state]) => state === 'done').map(([id]) => id);
    expect(done.filter((id) => !cited.has(id))).toEqual([]);
    expect(done.length).toBeGreaterThan(0);
  });

  it('lists every requirement that a test cites', () => {
    expect([...cited].filter((id) => !listed.has(id)).sort()).toEqual([]);
  });
});
