import type { Defect } from '../evidence.ts';
import { type FileDefects, type FileScan, scanInto } from '../file-scan.ts';
import type { AuditReport } from '../../findings/finding.ts';
import { addPlacedDefects } from '../placed-defects.ts';
import type { ProgressCounter } from '../progress-counter.ts';
import { ReportBuilder } from '../report-builder.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { Citations, citationsWithout } from './citations.ts';
import { checkFeature } from './gherkin.ts';
import { type MarkdownSpec, readMarkdownSpec } from './markdown-spec.ts';
import { idsIn } from './requirement-ids.ts';
import { CROSS_SPEC_RULES, SPEC_RULES } from './rules.ts';

const FEATURE = /\.feature$/i;
const MARKDOWN = /\.(md|markdown)$/i;
/** Forms to fill in announce what is not there yet, and their ids are examples. */
const FORM = /template/i;

/** What EARTH finds in one file: features that cannot run, requirements with the same id. */
export const SPECS_CHECK: FileScan = {
  rules: SPEC_RULES,
  nothing: 'there is no feature and no Markdown to look at',
  takes: (file) => FEATURE.test(file) || MARKDOWN.test(file),
  scan: (source) => checkSpec(source, specOf(source)),
};

/** For MERCURY: that a file cites what it does not define. Whether another defines it takes all of them. */
export const CITATIONS_CHECK: FileScan = {
  ...SPECS_CHECK,
  rules: CROSS_SPEC_RULES,
  scan: (source) => ({ defects: citationsWithout(source.file, specOf(source)) }),
};

/** EARTH's job: the specifications one by one, then the requirements they cite. `root` is a real path. */
export async function checkSpecs(root: string, progress: ProgressCounter): Promise<AuditReport> {
  const report = new ReportBuilder();
  const citations = new Citations();
  const scan = (source: SourceText): FileDefects => {
    const spec = specOf(source);
    citations.add(source.file, spec);
    return checkSpec(source, spec);
  };
  await scanInto(report, root, { ...SPECS_CHECK, scan }, progress);
  const undefinedIds = citations.undefinedIds();
  await addPlacedDefects(root, report, undefinedIds.slice(0, MAX_UNDEFINED));
  const more = undefinedIds.length - MAX_UNDEFINED;
  if (more > 0) report.note('findings-left-out', `${more} more ids that nothing defines are not listed`);
  return report.build();
}

/** The parser keeps something of every line. */
const MAX_FEATURE_LINES = 100_000;
const TOO_LONG = `has more than ${MAX_FEATURE_LINES} lines`;
const MAX_UNDEFINED = 1_000;
const NO_SPEC: MarkdownSpec = { definitions: [], citations: [], emptyCriteria: [] };

function specOf(source: SourceText): MarkdownSpec {
  if (FEATURE.test(source.file)) return { ...NO_SPEC, citations: tagsIn(source) };
  return FORM.test(source.file) ? NO_SPEC : readMarkdownSpec(source);
}

/** Tags such as `@REQ-12` tie a scenario to a requirement. */
const tagsIn = ({ text }: SourceText): MarkdownSpec['citations'] =>
  [...text.matchAll(/^[ \t]*@.*$/gm)].flatMap(({ 0: line, index }) =>
    idsIn(line.replaceAll('@', ' ')).map(({ id, at }) => ({ id, offset: index + at })),
  );

function checkSpec(source: SourceText, spec: MarkdownSpec): FileDefects {
  if (FEATURE.test(source.file)) {
    const isLong = source.startOf(MAX_FEATURE_LINES) !== undefined;
    return isLong ? { defects: [], unparsable: TOO_LONG } : { defects: checkFeature(source) };
  }
  const empty = spec.emptyCriteria.map((offset): Defect => ({ rule: 'specs.empty-criteria', offset }));
  return { defects: [...duplicateIds(source, spec), ...empty], unparsable: spec.unparsable };
}

function duplicateIds(source: SourceText, { definitions }: MarkdownSpec): Defect[] {
  const seen = new Map<string, number>();
  return definitions.flatMap(({ id, group, offset }) => {
    const key = `${group}\n${id}`;
    const earlier = seen.get(key);
    if (earlier === undefined) {
      seen.set(key, offset);
      return [];
    }
    const { line } = source.positionAt(earlier);
    return [{ rule: 'specs.duplicate-id', offset, message: `${id} is defined at line ${line}, too` }];
  });
}
