import { readFileSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { codePaths } from '../../../runtime/processes/code-paths.ts';

const HOME = new URL('../../../', import.meta.url);
const MODULE = new URL('../../fixtures/agents/living.ts', import.meta.url);

/** The files in the repository by which Orrery can be imported. */
const entries = (): readonly string[] => {
  const { exports } = JSON.parse(readFileSync(new URL('package.json', HOME), 'utf8')) as {
    exports: Record<string, string | { 'orrery-source'?: string }>;
  };
  return Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? [] : (entry['orrery-source'] ?? []),
  );
};

describe('What the code of an agent is read from', () => {
  it('has every entry of Orrery that an agent can import, from the repository too', () => {
    const paths = codePaths(MODULE.href, new URL('process.ts', HOME));
    const isAmong = (file: string): boolean =>
      paths.some((path) => file === path || file.startsWith(`${path}${sep}`));
    const files = entries()
      .filter((entry) => !entry.startsWith('./apps/'))
      .map((entry) => resolve(fileURLToPath(HOME), entry));
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((file) => !isAmong(file))).toEqual([]);
  });

  it('has the folder of its module, and nothing else of the repository', () => {
    const paths = codePaths(MODULE.href, new URL('process.ts', HOME));
    expect(paths).toContain(dirname(fileURLToPath(MODULE)));
    expect(paths).not.toContain(fileURLToPath(HOME).replace(/\/$/, ''));
    expect(paths).not.toContain(fileURLToPath(new URL('test', HOME)));
  });
});
