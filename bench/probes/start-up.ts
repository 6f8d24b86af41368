import { buildsOfOrrery } from '../builds.ts';
import { runChild } from '../child-process.ts';
import type { StartUpTimes } from '../children/start-up.ts';
import type { Effort, Probe, Reading } from '../measurement.ts';
import { spreadOf } from '../statistics.ts';

const CHILD = new URL('../children/start-up.ts', import.meta.url);
const CHILD_MS = 20_000;
const MOST_RUNS = 7;

const SHOWN: readonly (readonly [keyof StartUpTimes, string])[] = [
  ['importMs', "import 'orrery'"],
  ['startMs', 'startSystem with an agent in each of two workers'],
  ['firstAnswerMs', 'startSystem to the first answer'],
  ['stopMs', 'stop'],
  ['exitMs', 'process end after stop'],
];

/** Each run is a process of its own, so that nothing is loaded or compiled before. */
export const startUp: Probe = {
  kind: 'probe',
  name: 'start-up',
  title: 'Start and stop of a system in a new process (median)',
  read: async ({ rounds }: Effort): Promise<readonly Reading[]> => {
    const readings: Reading[] = [];
    for (const { label, execArgv } of buildsOfOrrery()) {
      const runs: StartUpTimes[] = [];
      for (let run = 0; run < Math.min(rounds, MOST_RUNS); run++) runs.push(await startOnce(execArgv));
      for (const [key, what] of SHOWN) {
        const { median } = spreadOf(runs.map((times) => times[key]));
        readings.push({ name: `${label}: ${what}`, value: median, unit: 'ms' });
      }
    }
    return readings;
  },
};

/** The child cannot time its own end: its clock says when it stopped, ours when it was gone. */
async function startOnce(execArgv: readonly string[]): Promise<StartUpTimes> {
  const child = await runChild({ module: CHILD, timeoutMs: CHILD_MS, execArgv });
  const times = child as StartUpTimes & { stoppedAtMs: number };
  return { ...times, exitMs: Math.max(0, Date.now() - times.stoppedAtMs) };
}
