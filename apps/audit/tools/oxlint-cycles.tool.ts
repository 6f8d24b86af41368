import { readSource } from '@orrery/ralph-loop/findings/read-source';
import type { SourceText } from '@orrery/ralph-loop/findings/source-text';
import type { Hit, Tool } from '../tool.ts';
import { lintTool } from './oxlint.ts';

const ERASED = 'typescript/consistent-type-imports';

const linted = lintTool({
  name: 'oxlint-cycles',
  module: import.meta.url,
  replaces: 'the rule architecture.cycle',
  plugins: ['import', 'typescript'],
  rules: {
    medium: { 'import/no-self-import': 'The file imports itself. Use what it has' },
    low: {
      'import/no-cycle':
        'These files import each other in a circle: which of them runs first depends on who is imported first. Move what both need into a file of its own',
    },
    // Never told of: it shows which imports go away with the types.
    info: { [ERASED]: '' },
  },
  particulars: {
    'import/no-cycle': { options: { ignoreTypes: true, allowUnsafeDynamicCyclicDependency: true } },
    [ERASED]: { isQuoted: true, few: Number.POSITIVE_INFINITY },
  },
});

/** JUPITER's: circles of imports. Each is told once, although each of its files is in it. */
export const cycles: Tool = {
  ...linted,
  rules: Object.fromEntries(Object.entries(linted.rules).filter(([id]) => !id.endsWith(ERASED))),
  run: async (job, progress) => {
    const { hits, ...result } = await linted.run(job, progress);
    const erased = new Set(
      hits
        .filter(({ rule, message }) => rule.endsWith(ERASED) && message.startsWith('All imports'))
        .map(placeOf),
    );
    const circles = hits.filter(({ rule }) => !rule.endsWith(ERASED));
    const gone = new Set<string>();
    for (const { file, line, trail = [] } of circles) {
      const read = readSource(job.root, file);
      if ('skipped' in read) continue;
      if (erased.has(placeOf({ file, line: statementAt(read.source, line) })))
        gone.add(`${file} ${trail[1]}`);
    }
    const told = new Set<string>();
    const hitsToTell = circles.filter((hit) => isWhole(hit, gone) && isFirst(hit, told));
    return { ...result, hits: hitsToTell.map(drawn) };
  },
};

const drawn = (hit: Hit): Hit =>
  hit.trail === undefined ? hit : { ...hit, message: `${hit.message} The circle: ${hit.trail.join(' → ')}` };

const placeOf = ({ file, line }: Pick<Hit, 'file' | 'line'>): string => `${file} ${line}`;

/** Where the import that ends on this line begins. */
function statementAt(source: SourceText, end: number): number {
  let line = end;
  while (line > 1 && !/^\s*(import|export)\b/.test(source.line(line) ?? '')) line -= 1;
  return line;
}

/** Whether none of its imports goes away with the types. */
const isWhole = ({ trail = [] }: Hit, gone: ReadonlySet<string>): boolean =>
  !trail.some((file, index) => gone.has(`${file} ${trail[index + 1]}`));

/** A circle that shares a file with one that was told is, to who mends it, the same. */
function isFirst({ file, trail = [] }: Hit, told: Set<string>): boolean {
  const members = [file, ...trail];
  const isNew = !members.some((member) => told.has(member));
  for (const member of members) told.add(member);
  return isNew;
}
