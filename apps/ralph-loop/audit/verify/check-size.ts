import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../finding.ts';
import { codeOf } from '../read-source.ts';
import { ruleOf } from '../rules.ts';
import { sizeFinding } from '../size-finding.ts';
import { pathFault } from './read-within.ts';

/** Whether a finding is about the size of its file. */
export const isOfSize = ({ rule }: Finding): boolean => ruleOf(rule)?.aboveBytes !== undefined;

/** What is wrong with a finding about a size, by the file as it lies there now. `root` is a real path. */
export function checkSize(root: string, finding: Finding): string | undefined {
  const fault = pathFault(root, finding.file);
  if (fault !== undefined) return fault;
  const bytes = sizeOf(join(root, finding.file));
  if (typeof bytes === 'string') return bytes;
  if (bytes <= (ruleOf(finding.rule)?.aboveBytes ?? 0)) return `its file has ${bytes} bytes`;
  const expected = sizeFinding(finding.rule, finding.file, bytes);
  const isSame =
    expected.id === finding.id &&
    expected.evidence === finding.evidence &&
    expected.lineSha256 === finding.lineSha256;
  return isSame ? undefined : `its file has ${bytes} bytes, and the finding says otherwise`;
}

function sizeOf(path: string): number | string {
  try {
    const stat = lstatSync(path);
    return stat.isFile() ? stat.size : 'its file is not a regular file';
  } catch (error) {
    return `its file cannot be read: ${codeOf(error)}`;
  }
}
