import { type Defect, findingsOf } from './evidence.ts';
import { readSource } from '../findings/read-source.ts';
import type { ReportBuilder } from './report-builder.ts';

/** A defect that shows only when all files have been seen, and the file it is in. */
export type PlacedDefect = Defect & { readonly file: string };

/** Adds the findings; each file is read once more, since nobody kept the texts. `root` is a real path. */
export async function addPlacedDefects(
  root: string,
  report: ReportBuilder,
  defects: readonly PlacedDefect[],
): Promise<void> {
  for (const [file, ofFile] of Map.groupBy(defects, (defect) => defect.file)) {
    const read = readSource(root, file);
    if ('skipped' in read) report.note(read.skipped, read.reason, file);
    else for (const finding of await findingsOf(read.source, ofFile)) report.add(finding);
  }
}
