import { z } from 'zod';
import { buildsOfOrrery } from '../builds.ts';
import { runChild } from '../child-process.ts';
import { type Effort, type Goal, type Probe, type Reading, Unavailable } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';
import { repeatedReading } from '../repeated-reading.ts';
import { pairedRatios, spreadOf } from '../statistics.ts';

const CHILD_MS = 60_000;

/** What is started, each a process of its own, so that nothing is loaded or compiled before. */
const PROGRAMS = ['bare', 'hello', 'team', 'apart', 'empty'] as const;
type Program = (typeof PROGRAMS)[number];

const Outcome = z.object({
  cpuMs: z.number(),
  firstAnswerMs: z.number().optional(),
  rssMb: z.number().optional(),
});
type Outcome = z.infer<typeof Outcome>;
type Round = Readonly<Record<Program, Outcome>> & { readonly nodeMs: number };

/** 250 ms where Node itself takes 40: machines differ, and what they do to one they do to the other. */
const FIRST_ANSWER: Goal = { better: 'less', target: 6.25, floor: 6.25 };
const atMost = (limit: number): Goal => ({ better: 'less', target: limit, floor: limit });

/** The programs take turns, round after round; a ratio is taken inside a round. */
const startUp: Probe = {
  kind: 'probe',
  name: 'start-up',
  title:
    'Start and stop of the built package, beside a process with three workers that load zod, xstate and comlink',
  read: async ({ rounds }: Effort): Promise<readonly Reading[]> => {
    if (!buildsOfOrrery().some(({ label }) => label === 'built'))
      throw new Unavailable('there is no dist: npm run build');
    const all: Round[] = [];
    for (let round = 0; round < rounds; round++) all.push(await runRound());
    return [
      ...cpuReadings(all, 'hello', 'hello world: one live agent, one ask, stop', atMost(2)),
      ...cpuReadings(all, 'team', '20 agents in modules, one ask each, stop', atMost(3)),
      ...firstAnswerReadings(all, 'hello', 'import and first answer', FIRST_ANSWER),
      ...firstAnswerReadings(all, 'apart', 'the same, of an agent in a process of its own'),
      ...memoryReadings(all),
    ];
  },
};

async function runRound(): Promise<Round> {
  const started = performance.now();
  await runChild({ module: program('nothing'), timeoutMs: CHILD_MS, execArgv: [] });
  const nodeMs = performance.now() - started;
  const outcomes: Partial<Record<Program, Outcome>> = {};
  for (const name of PROGRAMS) {
    const printed = await runChild({ module: program(name), timeoutMs: CHILD_MS, execArgv: [] });
    outcomes[name] = Outcome.parse(printed);
  }
  return { ...(outcomes as Record<Program, Outcome>), nodeMs };
}

const program = (name: string): URL => new URL(`../start-up/${name}.mjs`, import.meta.url);

function cpuReadings(rounds: readonly Round[], name: Program, what: string, goal: Goal): Reading[] {
  const of = (each: Program): readonly number[] => rounds.map((round) => round[each].cpuMs);
  const bareMs = spreadOf(of('bare')).median.toFixed(0);
  return [
    repeatedReading(of(name), { name: `${what}: CPU`, unit: 'ms', note: `bare: ${bareMs} ms` }),
    repeatedReading(pairedRatios(of(name), of('bare')), { name: `${what}: CPU over bare`, unit: 'x', goal }),
  ];
}

function firstAnswerReadings(rounds: readonly Round[], name: Program, what: string, goal?: Goal): Reading[] {
  const answers = rounds.map((round) => round[name].firstAnswerMs);
  const nodes = rounds.map(({ nodeMs }) => nodeMs);
  return [
    repeatedReading(
      answers.flatMap((ms) => ms ?? []),
      { name: what, unit: 'ms', note: `node: ${spreadOf(nodes).median.toFixed(0)} ms` },
    ),
    repeatedReading(pairedRatios(answers, nodes), { name: `${what}, over node`, unit: 'x', goal }),
  ];
}

function memoryReadings(rounds: readonly Round[]): Reading[] {
  const of = (each: Program): number =>
    spreadOf(rounds.map((round) => round[each].rssMb ?? Number.NaN)).median;
  return [
    {
      name: 'startSystem({ agents: [] }): memory above bare',
      value: of('empty') - of('bare'),
      unit: 'MB',
      note: `bare: ${of('bare').toFixed(0)} MB`,
      goal: atMost(60),
    },
  ];
}

export const plugin: Plugin = { measurements: [startUp] };
