import { existsSync, rmSync } from 'node:fs';
import { makeLargeRepository } from '../../apps/audit/test/large-repository.ts';
import { runChild } from '../child-process.ts';
import type { MissionTimes } from '../children/mission-run.ts';
import { withDescendants } from '../descendants.ts';
import { type Probe, type Reading, Unavailable } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';

const MISSION = new URL('../children/mission-run.ts', import.meta.url);
const CHILD_MS = 600_000;
const FILES = 50_000;
const TWO_GIB = 2 * 1024 ** 3;
const MB = 1e6;

/** What a mission over far more than fits into memory takes; each of its tools is bounded by itself. */
const largeAudit: Probe = {
  kind: 'probe',
  name: 'large-audit',
  title: `The audit of ${FILES.toLocaleString('en')} files and 2 GB as a mission`,
  read: async (): Promise<readonly Reading[]> => {
    if (!existsSync('/proc/self/stat')) throw new Unavailable('no /proc here, which tells memory');
    const root = makeLargeRepository({ files: FILES, sparseBytes: TWO_GIB });
    try {
      const { answer, byChildren, byOthers } = await withDescendants(() =>
        runChild({ module: MISSION, args: [root], timeoutMs: CHILD_MS }),
      );
      const { wallMs, stopReason } = answer as MissionTimes;
      if (stopReason !== 'all-accepted') throw new Error(`the mission ended as ${stopReason}`);
      return [
        {
          name: 'the most memory of the process that runs the mission',
          value: byChildren.peakBytes / MB,
          unit: 'MB',
          goal: { better: 'less', target: 512, floor: 512 },
        },
        { name: 'the most of its tools together', value: byOthers.peakBytes / MB, unit: 'MB' },
        { name: 'the mission', value: wallMs, unit: 'ms' },
      ];
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  },
};

export const plugin: Plugin = { measurements: [largeAudit] };
