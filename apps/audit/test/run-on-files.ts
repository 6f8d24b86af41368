import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { AuditReport } from '@orrery/ralph-loop';
import { runTool } from '../run-tool.ts';
import type { Tool } from '../tool.ts';

/** What a tool, in its confined process, says of a repository of these files. */
export async function runOnFiles(tool: Tool, files: Readonly<Record<string, string>>): Promise<AuditReport> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-files-')));
  try {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
    }
    const outcome = await runTool(
      tool,
      { root, files: Object.keys(files).filter(tool.takes), input: {} },
      { agent: 'tester', signal: new AbortController().signal, progress: () => undefined },
    );
    if (!('report' in outcome)) throw new Error('died' in outcome ? outcome.died : outcome.nothing);
    return outcome.report;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** `rule file:line` of each finding, sorted; without the name of the tool. */
export const placesOf = ({ findings }: AuditReport): string[] =>
  findings.map(({ rule, file, line }) => `${rule.replace(/^[^/]+\//, '')} ${file}:${line}`).sort();
