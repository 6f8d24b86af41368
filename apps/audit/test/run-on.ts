import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { AuditReport } from '@orrery/ralph-loop';
import { runTool } from '../run-tool.ts';
import type { Tool } from '../tool.ts';
import { toolReport } from '../tool-report.ts';

export type Files = Readonly<Record<string, string>>;

/** Calls `work` with a folder that holds these files and is gone afterwards. */
export async function withRepository<Answer>(
  files: Files,
  work: (root: string) => Promise<Answer>,
): Promise<Answer> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-audited-')));
  try {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
    }
    return await work(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

type Input = Readonly<Record<string, unknown>>;

/** What a tool reports of these files, in its own confined process. */
export const reportOn = (tool: Tool, files: Files, input: Input = {}): Promise<AuditReport> =>
  withRepository(files, async (root) => {
    const signal = new AbortController().signal;
    const outcome = await runTool(
      tool,
      { root, files: takenOf(tool, files), input },
      { agent: 'tester', signal, progress: () => undefined },
    );
    if (!('report' in outcome)) throw new Error(JSON.stringify(outcome));
    return outcome.report;
  });

/** The same in this process, for whoever asks what its rules say and not what confines it. */
export const reportHere = (tool: Tool, files: Files, input: Input = {}): Promise<AuditReport> =>
  withRepository(files, (root) =>
    toolReport(
      tool,
      { root, files: takenOf(tool, files), input },
      { agent: 'tester', progress: () => undefined },
    ),
  );

const takenOf = (tool: Tool, files: Files): readonly string[] =>
  Object.keys(files).filter((file) => tool.takes(file) && !file.includes('node_modules/'));

/** Its findings as `rule file:line`. */
export const placesIn = ({ findings }: AuditReport): string[] =>
  findings.map(({ rule, file, line }) => `${rule} ${file}:${line}`).sort();

/** The same without the name of the tool. */
export const placesOf = (report: AuditReport): string[] =>
  placesIn(report)
    .map((place) => place.replace(/^[^/]+\//, ''))
    .sort();
