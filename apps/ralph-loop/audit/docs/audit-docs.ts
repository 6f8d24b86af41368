import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { scanInto } from '../file-scan.ts';
import type { AuditReport } from '../../findings/finding.ts';
import { listFiles } from '../list-files.ts';
import { markdownFault } from '../markdown/parse-markdown.ts';
import { MANIFEST } from '../packages/manifest.ts';
import { PackageTree } from '../packages/package-tree.ts';
import { addPlacedDefects, type PlacedDefect } from '../placed-defects.ts';
import type { ProgressCounter } from '../progress-counter.ts';
import { ReportBuilder } from '../report-builder.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { DOCS_CHECK } from './docs-check.ts';
import { hasReadme } from './front-door.ts';
import { UNKNOWN_SCRIPT } from './rules.ts';
import { type NamedScript, scriptsNamedIn } from './scripts.ts';

/** CALLISTO's job: documentation that does not agree with what it documents. `root` is a real path. */
export async function auditDocs(root: string, progress: ProgressCounter): Promise<AuditReport> {
  const report = new ReportBuilder();
  const scripts = knownScripts(root);
  const unknown: PlacedDefect[] = [];
  const scan: typeof DOCS_CHECK.scan = (source, from) => {
    if (scripts.size > 0)
      unknown.push(
        ...namedIn(source).flatMap((named) => (scripts.has(named.name) ? [] : defectOf(source.file, named))),
      );
    return DOCS_CHECK.scan(source, from);
  };
  await scanInto(report, root, { ...DOCS_CHECK, scan }, progress);
  await addPlacedDefects(root, report, unknown);
  // With a package.json it is a finding, which needs a line to stand at.
  if (!hasReadme(root) && !existsSync(join(root, MANIFEST))) report.note('no-readme', 'there is no README');
  return report.build();
}

/** The names of the scripts of every package of the repository: a document may speak of any of them. */
function knownScripts(root: string): ReadonlySet<string> {
  const files: string[] = [];
  // What is left out is noted by the scan of the documents.
  for (const { path } of listFiles(root, { note: () => {} })) {
    if (path === MANIFEST || path.endsWith(`/${MANIFEST}`)) files.push(path);
  }
  const tree = PackageTree.read(root, files, { note: () => {}, saw: () => {} });
  return new Set([...tree.all].flatMap(({ fields }) => Object.keys(fields.scripts)));
}

const defectOf = (file: string, { name, offset }: NamedScript): PlacedDefect => ({
  rule: UNKNOWN_SCRIPT,
  file,
  offset,
  message: `No package.json has a script ${name}`,
});

const RUNS = / run(?:-script)? /;

function namedIn({ file, text }: SourceText): readonly NamedScript[] {
  if (file === MANIFEST || !RUNS.test(text)) return [];
  return markdownFault(text) === undefined ? scriptsNamedIn(text) : [];
}
