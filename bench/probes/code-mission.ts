import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildsOfOrrery, ROOT } from '../builds.ts';
import { CodeRepository } from '../code-repository.ts';
import { type Effort, type Goal, type Probe, type Reading, Unavailable } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';
import { repeatedReading } from '../repeated-reading.ts';
import { pairedRatios } from '../statistics.ts';
import { type Timed, timedCommand } from '../timed-command.ts';

const MOST_ROUNDS = 5;
const TASKS = 8;
const MB = 1e6;
const fileOf = (path: string): string => fileURLToPath(new URL(path, ROOT));
const ORRERY = fileOf('dist/bin/orrery.js');
const AGENT = fileOf('bench/children/code-agent.mjs');
const BY_HAND = fileOf('bench/children/code-by-hand.sh');
const IN_PLACE = fileOf('bench/children/code-in-place.sh');
const atMost = (target: number, floor: number): Goal => ({ better: 'less', target, floor });

const WALL = atMost(1.5, 3);
const CPU = atMost(2, 3.5);

/** What is carried out, each time on a fresh repository. */
type Way = (repository: CodeRepository, tasks: readonly string[]) => Promise<Timed>;

/** The command as people have it: its start is waited for, too. */
const loop =
  (parallel: number): Way =>
  async ({ root, folder, env }, tasks) => {
    const mission = join(folder, 'mission.json');
    writeFileSync(mission, JSON.stringify(missionOf(tasks, parallel)));
    return await timedCommand([process.execPath, ORRERY, 'run', mission, '--repo', root], {
      cwd: folder,
      env,
    });
  };

const byHand =
  (parallel: number): Way =>
  ({ root, env }, tasks) =>
    timedCommand(['sh', BY_HAND, AGENT, `${parallel}`, ...tasks], { cwd: root, env });

const inPlace: Way = ({ root, env }, tasks) =>
  timedCommand(['sh', IN_PLACE, AGENT, ...tasks], { cwd: root, env });

const missionOf = (tasks: readonly string[], maxParallel: number) => ({
  version: 1,
  name: 'Shop',
  code: {
    gates: [{ name: 'test', run: 'node --test', tests: true }],
    backends: [{ id: 'stand-in', command: ['node', AGENT] }],
  },
  limits: { timeoutMs: 600_000, maxParallel },
  tasks: tasks.map((id) => ({ id, title: `Write ${id}.txt` })),
});

/** In the order in which they are run; every other round goes backwards. */
const RUNS = {
  handOne: { way: byHand(1), tasks: 1, branch: 'by-hand' },
  loopOne: { way: loop(1), tasks: 1, branch: 'orrery/shop' },
  hand: { way: byHand(1), tasks: TASKS, branch: 'by-hand' },
  loop: { way: loop(1), tasks: TASKS, branch: 'orrery/shop' },
  handTwo: { way: byHand(2), tasks: TASKS, branch: 'by-hand' },
  loopTwo: { way: loop(2), tasks: TASKS, branch: 'orrery/shop' },
  inPlace: { way: inPlace, tasks: TASKS, branch: 'main' },
} as const;
type Run = keyof typeof RUNS;
type Round = Readonly<Record<Run, Timed>>;

/** The same tasks by the command, and by a script that does the same with git, the same agent and the same tests. */
const codeMission: Probe = {
  kind: 'probe',
  name: 'code-mission',
  title: `A mission of ${TASKS} coding tasks, beside a script that does the same by hand (median)`,
  read: async ({ rounds }: Effort): Promise<readonly Reading[]> => {
    if (!existsSync('/proc/self/stat')) throw new Unavailable('the script needs flock, which Linux has');
    if (!buildsOfOrrery().some(({ label }) => label === 'built'))
      throw new Unavailable('there is no dist: npm run build');
    const all: Round[] = [];
    for (let round = 0; round < Math.min(rounds, MOST_ROUNDS); round++) all.push(await oneRound(round));
    return readingsOf(all);
  },
};

async function oneRound(round: number): Promise<Round> {
  const order = Object.keys(RUNS) as Run[];
  const found: Partial<Record<Run, Timed>> = {};
  for (const run of round % 2 === 0 ? order : order.toReversed()) found[run] = await carriedOut(run);
  return found as Round;
}

async function carriedOut(run: Run): Promise<Timed> {
  const { way, tasks: count, branch } = RUNS[run];
  using repository = new CodeRepository();
  const tasks = Array.from({ length: count }, (_, at) => `task-${at + 1}`);
  const timed = await way(repository, tasks);
  const files = repository.filesAt(branch);
  const missing = tasks.filter((task) => !files.includes(`${task}.txt`));
  if (missing.length > 0) throw new Error(`${run} has not brought ${missing.join(', ')} onto ${branch}`);
  return timed;
}

function readingsOf(rounds: readonly Round[]): readonly Reading[] {
  const of = (run: Run, what: keyof Timed = 'wallMs'): readonly number[] =>
    rounds.map((round) => round[run][what]);
  const ratio = (over: Run, under: Run, what: keyof Timed = 'wallMs') =>
    pairedRatios(of(over, what), of(under, what));
  const extraMs = rounds.map(
    (each) => (extraOf(each.loop, each.hand) - extraOf(each.loopOne, each.handOne)) / (TASKS - 1),
  );
  const ms = 'ms';
  return [
    repeatedReading(of('inPlace'), {
      name: 'a loop in the folder itself, without worktrees and merges, tests once: it does less',
      unit: ms,
    }),
    repeatedReading(of('hand'), { name: 'the script, one task after the other', unit: ms }),
    repeatedReading(of('loop'), { name: 'the mission, one task after the other', unit: ms }),
    repeatedReading(ratio('loop', 'hand'), {
      name: 'the mission over the script, one task after the other',
      unit: 'times',
      goal: WALL,
    }),
    repeatedReading(of('handTwo'), { name: 'the script, two tasks at a time', unit: ms }),
    repeatedReading(of('loopTwo'), { name: 'the mission, two tasks at a time', unit: ms }),
    repeatedReading(ratio('loopTwo', 'handTwo'), {
      name: 'the mission over the script, two tasks at a time',
      unit: 'times',
      goal: WALL,
    }),
    repeatedReading(ratio('loop', 'hand', 'cpuMs'), {
      name: 'the same, one after the other: processor time of all processes',
      unit: 'times',
      goal: CPU,
    }),
    repeatedReading(extraMs, { name: 'what the mission takes longer with each further task', unit: ms }),
    repeatedReading(
      rounds.map((each, at) => extraOf(each.loopOne, each.handOne) - (extraMs[at] ?? 0)),
      { name: 'what it takes longer once: start of the command, end with its report', unit: ms },
    ),
    repeatedReading(
      of('loop', 'peakBytes').map((bytes) => bytes / MB),
      { name: "memory of the command's process at most", unit: 'MB' },
    ),
  ];
}

const extraOf = (loopRun: Timed, handRun: Timed): number => loopRun.wallMs - handRun.wallMs;

export const plugin: Plugin = { measurements: [codeMission] };
