import type { JSONPath } from 'jsonc-parser';
import { findingsOf } from '../evidence.ts';
import { JsonPlaces } from '../json/parse-json.ts';
import { readSource } from '../../findings/read-source.ts';
import type { ReportBuilder } from '../report-builder.ts';

/** Something wrong at a key of a package.json. */
export interface ManifestFault {
  readonly file: string;
  readonly path: JSONPath;
  readonly rule: string;
  readonly message: string;
}

/** Adds the findings; each file is read once more, since the texts were not kept. */
export async function addFaults(
  root: string,
  report: ReportBuilder,
  faults: readonly ManifestFault[],
): Promise<void> {
  for (const [file, ofFile] of Map.groupBy(faults, (fault) => fault.file)) {
    const read = readSource(root, file);
    if ('skipped' in read) {
      report.note(read.skipped, read.reason, file);
      continue;
    }
    const places = new JsonPlaces(read.source.text);
    const defects = ofFile.map(({ rule, message, path }) => ({
      rule,
      message,
      offset: places.offsetOf(path),
    }));
    for (const finding of await findingsOf(read.source, defects)) report.add(finding);
  }
}
