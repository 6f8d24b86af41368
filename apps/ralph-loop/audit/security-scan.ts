import { type DangerousCalls, findDangerousCalls } from './dangerous-calls.ts';
import { type Defect, findingsOf } from './evidence.ts';
import type { AuditReport, Finding } from '../findings/finding.ts';
import { listFiles } from './list-files.ts';
import { MemoryRelief } from './memory-relief.ts';
import type { ProgressCounter } from './progress-counter.ts';
import { readSource } from '../findings/read-source.ts';
import { ReportBuilder } from './report-builder.ts';
import { findSecrets } from './secrets.ts';
import type { SourceText } from '../findings/source-text.ts';

/** ENCELADUS' job: secrets in every text file, dangerous calls in every script. `root` is a real path. */
export async function scanSecurity(root: string, progress: ProgressCounter): Promise<AuditReport> {
  const report = new ReportBuilder();
  const note = report.note.bind(report);
  const files = [...listFiles(root, { note })];
  if (files.length === 0) note('empty', 'there is no file to look at');
  progress.expect(files.length);
  using memory = new MemoryRelief();
  for (const { path } of files) {
    const read = readSource(root, path);
    if ('source' in read) {
      report.saw(read.bytes);
      const scan = await scanSource(read.source);
      await memory.parsed(read.bytes);
      for (const finding of scan.findings) report.add(finding);
      if (scan.unparsable !== undefined) note('unparsable', scan.unparsable, path);
      if (scan.silenced > 0) note('silenced', `${scan.silenced} secrets are marked secretlint-disable`, path);
    } else note(read.skipped, read.reason, path);
    progress.advance();
  }
  return report.build();
}

/** The scan of one file. `silenced` counts secrets that the file itself says to overlook. */
export interface SourceScan {
  readonly findings: readonly Finding[];
  readonly silenced: number;
  readonly unparsable: string | undefined;
}

export async function scanSource(source: SourceText): Promise<SourceScan> {
  const secrets = await findSecrets(source);
  const calls = findDangerousCalls(source);
  const open = secrets.filter(({ isSilenced }) => !isSilenced);
  const defects = [...open.map(({ rule, start }): Defect => ({ rule, offset: start })), ...defectsOf(calls)];
  return {
    findings: await findingsOf(source, defects, secrets),
    silenced: secrets.length - open.length,
    unparsable: 'unparsable' in calls ? calls.unparsable : undefined,
  };
}

const defectsOf = (calls: DangerousCalls): readonly Defect[] => ('defects' in calls ? calls.defects : []);
