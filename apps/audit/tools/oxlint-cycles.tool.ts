import type { Hit, Tool } from '../tool.ts';
import { isScript, isTestOrFixture, lintTool } from './oxlint.ts';

const linted = lintTool({
  name: 'oxlint-cycles',
  module: import.meta.url,
  replaces: 'the rule architecture.cycle',
  nothing: 'no scripts',
  plugins: ['import'],
  takes: (file) => isScript(file) && !isTestOrFixture(file),
  rules: {
    'import/no-cycle': {
      severity: 'low',
      what: 'These files import each other in a circle: which of them runs first depends on who is imported first',
      todo: 'Move what both need into a file of its own',
      options: { ignoreTypes: true, allowUnsafeDynamicCyclicDependency: true },
    },
    'import/no-self-import': { severity: 'medium', what: 'The file imports itself', todo: 'Use what it has' },
  },
});

/** JUPITER's: circles of imports. Each is told once, although each of its files is in it. */
export const cycles: Tool = {
  ...linted,
  run: async (job, progress) => {
    const { hits, ...result } = await linted.run(job, progress);
    const told = new Set<string>();
    return { ...result, hits: hits.filter((hit) => isFirst(hit, told)) };
  },
};

/** A circle that shares a file with one that was told is, to who mends it, the same. */
function isFirst({ file, trail = [] }: Hit, told: Set<string>): boolean {
  const members = [file, ...trail];
  const isNew = !members.some((member) => told.has(member));
  for (const member of members) told.add(member);
  return isNew;
}
