import ignore, { type Ignore } from 'ignore';
import { listFiles } from '../list-files.ts';
import { readSource } from '../../findings/read-source.ts';
import type { ReportBuilder } from '../report-builder.ts';
import { sizeFinding } from '../size-finding.ts';
import { LARGE_FILE, LARGE_FILE_BYTES } from './rules.ts';

/** Adds a finding for each large file that git does not ignore. `root` is a real path. */
export function findLargeFiles(root: string, report: ReportBuilder): void {
  const elsewhere = largeFileStorage(root);
  // What cannot be listed is noted by whoever reads the scripts.
  for (const { path, bytes } of listFiles(root, { maxFileBytes: Number.POSITIVE_INFINITY, note: () => {} })) {
    if (bytes > LARGE_FILE_BYTES && !elsewhere.ignores(path))
      report.add(sizeFinding(LARGE_FILE, path, bytes));
  }
}

/** What git-lfs keeps: such a file is large in the working tree only. */
function largeFileStorage(root: string): Ignore {
  const read = readSource(root, '.gitattributes');
  const lines = 'source' in read ? read.source.text.split(/\r?\n/) : [];
  const kept = lines
    .filter((line) => /\sfilter=lfs(\s|$)/.test(line))
    .map((line) => line.split(/\s/)[0] ?? '');
  return ignore({ ignorecase: false }).add(kept);
}
