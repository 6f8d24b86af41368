import { readFileSync } from 'node:fs';
import { faultsOf } from '../../runtime/protocol/payload-faults.ts';
import { resultsInvalid } from '../bench-error.ts';
import { BenchReport, REPORT_VERSION } from './bench-report.ts';

/** Reads what `--json` wrote; fails with RESULTS_INVALID, which names the file and the field. */
export function readReport(file: string): BenchReport {
  return reportIn(textOf(file), file);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw resultsInvalid(file, error instanceof Error ? error.message : String(error), error);
  }
}

export function reportIn(text: string, file: string): BenchReport {
  const value = jsonIn(text, file);
  const version = (value as { readonly version?: unknown } | null)?.version;
  if (version !== REPORT_VERSION)
    throw resultsInvalid(
      file,
      `version is ${JSON.stringify(version) ?? 'missing'}, expected ${REPORT_VERSION}: measure again`,
    );
  const { data, error } = BenchReport.safeParse(value, { reportInput: true });
  if (error !== undefined) throw resultsInvalid(file, faultsOf(error, value), error);
  return data;
}

function jsonIn(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw resultsInvalid(file, `it is no JSON: ${error instanceof Error ? error.message : error}`, error);
  }
}
