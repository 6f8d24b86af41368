import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Tool } from '../../tool.ts';

/** Does all that a tool must not: it loads settings of the repository, and has git read its own. */
export const careless: Tool = {
  name: 'careless',
  module: import.meta.url,
  packages: [],
  licence: 'MIT',
  home: 'https://example.org',
  replaces: '',
  rules: {},
  nothing: 'no files',
  takes: () => true,
  maySpawn: true,
  run: async ({ root }) => {
    await import(pathToFileURL(join(root, 'stylelint.config.mjs')).href);
    await import(pathToFileURL(join(root, '.eslintrc.js')).href);
    execFileSync('git', ['status'], { cwd: root, stdio: 'ignore' });
    return { hits: [] };
  },
};
