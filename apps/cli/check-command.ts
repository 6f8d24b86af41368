import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  capabilitiesOf,
  changesCode,
  count,
  duration,
  type Mission,
  type MissionBounds,
  missionBounds,
  missionGraph,
  missionJsonSchema,
  printable,
  setupGate,
  type SourcedMission,
  table,
} from '@orrery/ralph-loop';
import type { CommandDeps } from './command.ts';
import { rootMeant, sourcedMission, teamFor } from './mission-meant.ts';
import type { TypedOptions } from './run-plan.ts';
import { UsageError } from './usage-error.ts';
import { type MeantVariable, variablesMeant } from './variables-meant.ts';

/**
 * Runs `orrery check`: says what a mission would do, and starts nothing. Resolves to the exit code; rejects with MissionError,
 * naming all faults, if the mission cannot be run.
 */
export async function checkCommand(
  options: TypedOptions,
  [file]: readonly string[],
  { screen }: Pick<CommandDeps, 'screen'>,
): Promise<number> {
  if (options['schema'] === true) {
    const other = ['json', 'repo', 'tag', 'agents', 'backend', 'gate'].find(
      (name) => options[name] !== undefined,
    );
    if (other !== undefined) throw new UsageError(`Options "--schema" and "--${other}" exclude each other`);
    screen.write(jsonOf(missionJsonSchema()));
    return 0;
  }
  const sourced = await sourcedMission(options, { root: await rootMeant(options), file });
  const preview = {
    ...previewOf(sourced),
    agents: await agentNames(options, sourced),
    variables: variablesMeant(options['backend'], sourced.mission, process.env),
  };
  screen.write(options['json'] === true ? jsonOf(preview) : `${linesOf(preview).join('\n')}\n`);
  return 0;
}

const jsonOf = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** The agents that would be started: files, and coding agents by their ids. */
async function agentNames(
  options: TypedOptions,
  { mission, source }: SourcedMission,
): Promise<readonly string[]> {
  const agents = await teamFor(options, { mission, file: source.file });
  return agents.map((agent) =>
    'module' in agent ? relative('.', fileURLToPath(String(agent.module))) : agent.options.id,
  );
}

/** A mission as it would be run, as data. */
function previewOf({ mission, source }: SourcedMission) {
  const { name, description, code, limits, tasks } = mission;
  return {
    file: source.file,
    format: source.format,
    ...(source.tag === undefined ? {} : { tag: source.tag }),
    name,
    ...(description === undefined ? {} : { description }),
    ...missionGraph(tasks),
    tasks: tasks.map((task) => taskOf(task, { mission, source })),
    leftOut: source.leftOut,
    ...(code === undefined ? {} : { code }),
    limits,
    atWorst: missionBounds(mission),
  };
}

function taskOf(task: Mission['tasks'][number], { mission: { code }, source }: SourcedMission) {
  const { id, title, dependsOn = [], after = [] } = task;
  const from = source.tasks[id];
  const change = changesCode(task)
    ? {
        gates: [...(code?.gates ?? []), ...(task.gates ?? [])],
        protect: [...(code?.protect ?? []), ...(task.protect ?? [])],
        permission: task.permission ?? code?.permission ?? 'edit',
      }
    : {};
  return {
    id,
    title,
    ...(from === undefined ? {} : { from }),
    capabilities: capabilitiesOf(task),
    waitsFor: [...dependsOn, ...after],
    ...change,
  };
}

type Preview = ReturnType<typeof previewOf> & {
  readonly agents: readonly string[];
  readonly variables: readonly MeantVariable[];
};

function linesOf(preview: Preview): string[] {
  const { name, file, format, tag, tasks, waves, criticalPath, leftOut, agents, limits, atWorst } = preview;
  const capabilities = [...new Set(tasks.flatMap((task) => task.capabilities))].sort();
  const { maxParallel } = limits;
  const facts = [
    ['format', tag === undefined ? format : `${format}, tag ${tag}`],
    ['tasks', `${tasks.length}${leftOut.length === 0 ? '' : `, and ${leftOut.length} left out`}`],
    ['needs', capabilities.join(', ')],
    ['agents', agents.join(', ') || 'none of files'],
    ['at a time', maxParallel === undefined ? 'as many as the machine has cores' : String(maxParallel)],
    ['critical path', `${count(criticalPath.length, 'task')}: ${criticalPath.join(' -> ')}`],
    ['at worst', worst(atWorst, preview.code !== undefined)],
  ];
  return [
    `${name}: ${file}`,
    '',
    ...table(facts, '  '),
    ...codeLines(preview),
    ...variableLines(preview),
    ...waves.flatMap((wave, index) => [
      '',
      `Wave ${index + 1}`,
      ...table(
        wave.map((id) => rowOf(preview, id)),
        '  ',
      ),
    ]),
    ...(leftOut.length === 0
      ? []
      : [
          '',
          'Left out',
          ...table(
            leftOut.map(({ key, why }) => [key, why]),
            '  ',
          ),
        ]),
  ].map((line) => printable(line));
}

function rowOf({ tasks, code }: Preview, id: string): string[] {
  const task = tasks.find((one) => one.id === id);
  const shared = code?.gates?.length ?? 0;
  const gates = (task?.gates ?? []).slice(shared).map((gate) => gate.name);
  const waits = task?.waitsFor ?? [];
  return [
    id,
    task?.title ?? '',
    waits.length === 0 ? '' : `after ${waits.join(', ')}`,
    gates.length === 0 ? '' : `gates ${gates.join(', ')}`,
  ];
}

/** How the repository would be changed, gates and their commands included. */
function codeLines({ code, tasks, name }: Preview): string[] {
  if (code === undefined) return [];
  const own = tasks.flatMap((task) =>
    (task.gates ?? []).slice(code.gates?.length ?? 0).map((gate) => ({ gate, of: task.id })),
  );
  const gates = [...(code.gates ?? []).map((gate) => ({ gate, of: 'every task' })), ...own];
  const protectedFiles = [...new Set(tasks.flatMap((task) => task.protect ?? []))];
  const facts = [
    ['branch', code.branch ?? `orrery/ and the name ${name}`],
    ['from', code.base ?? 'HEAD'],
    ...(code.setup === undefined ? [] : [['setup', commandOf(setupGate(code.setup).run)]]),
    ['protected', protectedFiles.join(', ') || 'nothing'],
    ['may', code.permission ?? 'edit'],
  ];
  return [
    '',
    'Changes',
    ...table(facts, '  '),
    '',
    'Gates',
    ...table(
      gates.map(({ gate, of }) => [gate.name, commandOf(gate.run), `of ${of}`]),
      '  ',
    ),
  ];
}

/** The variables that programs get by name, and whether there is something in them; never what. */
const variableLines = ({ variables }: Preview): string[] =>
  variables.length === 0
    ? []
    : [
        '',
        'Variables',
        ...table(
          variables.map(({ name, of, state }) => [name, `for ${of}`, state]),
          '  ',
        ),
      ];

/** The worst case. What nothing limits is said to be so, where it costs. */
function worst({ attempts, timeMs, costUsd }: MissionBounds, isCode: boolean): string {
  const cost = costUsd === undefined ? 'no limit of dollars' : `${costUsd} USD`;
  return [count(attempts, 'attempt'), duration(timeMs), ...(isCode ? [cost] : [])].join(', ');
}

const commandOf = (command: string | readonly string[]): string =>
  typeof command === 'string'
    ? command
    : command.map((word) => (/\s/.test(word) ? JSON.stringify(word) : word)).join(' ');
