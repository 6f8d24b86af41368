import type { Tool } from '../tool.ts';

/** Reports the compiler's errors in every project of the repository. */
export const tsc: Tool = {
  name: 'tsc',
  module: import.meta.url,
  packages: ['typescript'],
  licence: 'Apache-2.0',
  home: 'https://www.typescriptlang.org',
  replaces: 'the type check by TypeScript 6, and its rules types.*',
  rules: {
    'tsc/syntax-*': { severity: 'high', what: 'A file that is not TypeScript: nothing can run it' },
    'tsc/TS*': { severity: 'medium', what: 'An error that the compiler reports, by its number' },
  },
  nothing: 'no TypeScript',
  takes: (file) => /\.[cm]?tsx?$/.test(file) || /(^|\/)tsconfig(\.[\w.-]+)?\.json$/.test(file),
  maySpawn: true,
  maxHeapMb: 1_024,
  run: async (job, progress) => {
    const { TypesCheck } = await import('./tsc/type-check.ts');
    return new TypesCheck(job, progress).run();
  },
};
