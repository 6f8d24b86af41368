import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunFolder } from '../../../missions/run-folder.ts';
import type { RunRecord } from '../../../missions/run-record.ts';
import { RunSeal } from '../../../missions/run-seal.ts';

/** A folder that looks like a repository, and a user with a key. */
export class RunsHere implements Disposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-runs-')));
  readonly root = join(this.base, 'repo');
  readonly seal = new RunSeal(join(this.base, 'user', 'runs.key'));

  constructor() {
    mkdirSync(join(this.root, '.git'), { recursive: true });
  }

  folder(mission = 'Spring clean', seal = this.seal): RunFolder {
    return new RunFolder(this.root, mission, seal);
  }

  /** A run that has begun in a process that is not there. */
  record(over: Partial<RunRecord> = {}): RunRecord {
    return {
      version: 1,
      mission: 'Spring clean',
      root: this.root,
      folder: this.root,
      options: { verbose: true, json: '/r.json' },
      leftOut: [],
      journal: '/j',
      process: { pid: process.pid, start: '1', machine: 'another' },
      startedAtMs: 1_000,
      ...over,
    };
  }

  /** Keeps that a run has begun. */
  began(over: Partial<RunRecord> = {}): RunFolder {
    const record = this.record(over);
    const folder = this.folder(record.mission);
    folder.make();
    folder.write(record);
    return folder;
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

export const ENDED = { stopReason: 'all-accepted', endedAtMs: 2_000, exitCode: 0 } as const;
export const FAILED = { stopReason: 'task-failed', endedAtMs: 2_000, exitCode: 1 } as const;
