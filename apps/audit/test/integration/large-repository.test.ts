import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MissionReport } from '@orrery/ralph-loop';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeLargeRepository } from '../large-repository.ts';
import { CONDITIONS } from '../../../../test/fixtures/conditions.ts';
import { times } from '../../../../test/fixtures/effort.ts';

const MAIN = fileURLToPath(new URL('../../../cli/main.ts', import.meta.url));
const FILES = times(250, 50_000);
/** All of their types at once would take more memory than many machines have. */
const TOO_MANY = 50_000;
const MISSION = {
  version: 1,
  name: 'large',
  limits: { maxAttempts: 1, timeoutMs: 600_000 },
  tasks: [
    { id: 'security', title: 'Find what runs text', capability: 'security.scan' },
    { id: 'promises', title: 'Find what nobody waits for', capability: 'errors.check' },
  ],
};

let root: string;
beforeAll(() => {
  root = makeLargeRepository({ files: FILES, sparseBytes: FILES * 40 * 1024 });
}, 120_000);
afterAll(() => rmSync(root, { recursive: true, force: true }));

function audit(mission: string, json: string): Promise<number | null> {
  const words = [...CONDITIONS, MAIN, 'run', mission, '--repo', root, '--json', json];
  const child = spawn(process.execPath, words, { stdio: 'ignore' });
  return new Promise((ended) => child.once('close', ended));
}

describe(`the audit of ${FILES.toLocaleString('en')} files of 40 KB`, () => {
  it('finds every planted defect, and says what it did not read', { timeout: 600_000 }, async () => {
    const [mission, json] = ['mission', 'report'].map((name) => join(`${root}-${name}.json`)) as [
      string,
      string,
    ];
    try {
      writeFileSync(mission, JSON.stringify(MISSION));
      expect(await audit(mission, json)).toBe(0);
      const { findings, tasks, refused } = MissionReport.parse(JSON.parse(readFileSync(json, 'utf8')));
      expect(findings.map(({ rule }) => rule)).toEqual(
        Array.from({ length: Math.ceil(FILES / 5_000) }, () => 'oxlint/no-eval'),
      );
      expect(refused).toEqual([]);
      const binaries = tasks[0]?.notes.filter(({ kind }) => kind === 'binary').map(({ reason }) => reason);
      expect(binaries?.at(-1)).toMatch(/^\d+ more like these$/);
      expect(tasks[0]?.filesSeen).toBe(FILES / 2);
      const unchecked = tasks[1]?.notes.filter(({ kind }) => kind === 'memory').map(({ reason }) => reason);
      const reason = /^the compiler needs more than 4096 MB of memory/;
      expect(unchecked).toEqual(FILES < TOO_MANY ? [] : [expect.stringMatching(reason)]);
    } finally {
      for (const file of [mission, json]) rmSync(file, { force: true });
    }
  });
});
