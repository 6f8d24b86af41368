import { readSource } from '@orrery/ralph-loop/findings/read-source';
import type { Hit, Tool } from '../tool.ts';
import type { Use } from './import-uses.ts';
import { lintTool } from './oxlint.ts';

const linted = lintTool({
  name: 'oxlint-cycles',
  module: import.meta.url,
  replaces: 'the rule architecture.cycle',
  plugins: ['import'],
  rules: {
    medium: { 'import/no-self-import': 'The file imports itself. Use what it has' },
    low: {
      'import/no-cycle':
        'These files import each other in a circle, and one of them uses the next while it loads: whether that is there by then depends on which file is imported first. Move what both need into a file of its own',
    },
  },
  particulars: {
    'import/no-cycle': {
      options: { ignoreTypes: true, allowUnsafeDynamicCyclicDependency: true },
      few: Number.POSITIVE_INFINITY,
    },
  },
});

/** Finds circles of imports that matter while files load. Each is reported once. */
export const cycles: Tool = {
  ...linted,
  run: async (job, progress) => {
    const { hits, ...result } = await linted.run(job, progress);
    const { ImportResolver } = await import('./imports.ts');
    const { declaredFunctions, useOf } = await import('./import-uses.ts');
    const resolver = new ImportResolver(job.root);
    const known = new Map<string, Use>();
    const functionsOf = (file: string): ReadonlySet<string> => {
      const read = readSource(job.root, file);
      return 'source' in read ? declaredFunctions(read.source) : new Set();
    };
    const use = (from: string, to: string): Use => {
      const edge = `${from} ${to}`;
      const read = known.has(edge) ? { skipped: true } : readSource(job.root, from);
      if ('source' in read) {
        const isMeant = (specifier: string): boolean => {
          const found = resolver.resolve(from, specifier);
          return typeof found === 'object' && found.file === to;
        };
        const functions = functionsOf(to);
        known.set(
          edge,
          useOf(read.source, isMeant, (name) => functions.has(name)),
        );
      }
      return known.get(edge) ?? 'never';
    };
    const told = new Set<string>();
    const circles = hits.filter((hit) => matters(hit, use) && isFirst(hit, told));
    return { ...result, hits: circles.map(drawn) };
  },
};

/** Whether all imports of a circle exist at run time, and one of them is used while a file loads. */
function matters({ trail }: Hit, useOf: (from: string, to: string) => Use): boolean {
  if (trail?.length === 2) return false;
  const uses = trail?.slice(1).map((to, index) => useOf(trail[index] as string, to)) ?? ['loading'];
  return uses.includes('loading') && !uses.includes('never');
}

const drawn = (hit: Hit): Hit =>
  hit.trail === undefined ? hit : { ...hit, message: `${hit.message} The circle: ${hit.trail.join(' → ')}` };

/** Whether no reported circle shares a file with this one; those are mended together. */
function isFirst({ file, trail = [] }: Hit, told: Set<string>): boolean {
  const members = [file, ...trail];
  const isNew = !members.some((member) => told.has(member));
  for (const member of members) told.add(member);
  return isNew;
}
