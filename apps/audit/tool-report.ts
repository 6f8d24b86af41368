import type { AuditReport } from '@orrery/ralph-loop';
import { reportOfHits } from './report-of-hits.ts';
import type { Tool, ToolJob } from './tool.ts';
import { writtenFiles } from './written-files.ts';

/** Runs a tool in this process on the files of its job that people wrote, and reports its hits in the name of `agent`. */
export async function toolReport(
  tool: Tool,
  { root, files: taken, input }: ToolJob,
  { agent, progress }: { readonly agent: string; readonly progress: (done: number, of: number) => void },
): Promise<AuditReport> {
  const { files, bytes, notes } = writtenFiles(root, taken);
  const result = await tool.run({ root, files, input }, progress);
  const report = await reportOfHits(tool, result.hits, { agent, root });
  return {
    findings: report.findings,
    notes: [...notes, ...(result.notes ?? []), ...report.notes],
    filesSeen: result.filesSeen ?? files.length,
    bytesSeen: bytes,
  };
}
