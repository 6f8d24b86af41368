import { loopAgents, nearest, table, taskMachine } from '@orrery/ralph-loop';
import type { ActorRow, AgentSpec, RosterRow } from 'orrery';
import { agentsMeant } from './agents-meant.ts';
import { readWorkers } from './option-values.ts';
import type { CommandDeps } from './command.ts';
import { startTeam } from './start-team.ts';
import { UsageError } from './usage-error.ts';

/**
 * Runs `orrery agents`: starts the team, prints its roster, and stops it. With `--machine` it draws a machine, and starts
 * nothing. Resolves to the exit code.
 */
export async function agentsCommand(
  options: Readonly<Record<string, string | true>>,
  { screen }: CommandDeps,
): Promise<number> {
  const workers = readWorkers(options['workers']);
  const agents = await agentsMeant(options['agents']);
  const { machine, json } = options;
  if (machine !== undefined) {
    if (json !== undefined) throw new UsageError('Options "--machine" and "--json" exclude each other');
    screen.write(await drawingOf(String(machine), agents));
    return 0;
  }
  await using system = await startTeam({
    agents,
    ...(workers === undefined ? {} : { workers }),
  });
  const roster = await system.roster({ actors: true });
  screen.write(`${json === true ? JSON.stringify(roster, null, 2) : rosterTable(roster).join('\n')}\n`);
  return 0;
}

const HEADINGS = ['AGENT', 'TIER', 'CAPABILITIES', 'PLACE', 'STATUS', 'MAILBOX', 'RESTARTS'];

/**
 * Formats the roster as a table with headings. Below each agent are its actors, such as its negotiator, with their children.
 */
export const rosterTable = (roster: readonly RosterRow[]): string[] =>
  table([
    HEADINGS,
    ...roster.flatMap(({ id, tier, capabilities, place, status, waiting, restarts, actors = [] }) => [
      [id, `L${tier}`, capabilities.join(', ') || '-', place, status, String(waiting), String(restarts)],
      ...actors.flatMap((actor) => actorRows(actor, '  ')),
    ]),
  ]);

/** The rows of an actor and its children: its machine, its id if that differs, and its state. */
function actorRows({ id, machine, state, children = [] }: ActorRow, indent: string): string[][] {
  const name = id === machine ? machine : `${machine} ${id}`;
  return [
    [`${indent}${name}`, '', '', '', state, '', ''],
    ...children.flatMap((child) => actorRows(child, `${indent}  `)),
  ];
}

/** Draws a machine: that of the agent `id`, or one of Orrery's own. SUN and MERCURY are in every team. Throws UsageError. */
async function drawingOf(id: string, agents: readonly AgentSpec[]): Promise<string> {
  // Loaded only for drawings.
  const { drawMachine, MACHINES, machineOfAgent } = await import('orrery/machines');
  const modules = [...agents, ...loopAgents()].flatMap((agent) => ('module' in agent ? [agent.module] : []));
  const team = await Promise.all(modules.map(machineOfAgent));
  const own = [...MACHINES, taskMachine];
  const agent = team.find((one) => one.id === id);
  const machine = agent === undefined ? own.find((one) => one.id === id) : agent.machine;
  if (machine !== undefined) return drawMachine(machine);
  if (agent !== undefined)
    throw new UsageError(
      `Option "--machine" is "${id}": that agent has no state machine of its own. The life of every agent is "agentLife"`,
    );
  const drawable = team.flatMap((one) => (one.machine === undefined ? [] : [one.id]));
  const ids = [...new Set([...drawable, ...own.map((one) => one.id)])].sort();
  const meant = nearest(id, ids);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  throw new UsageError(`Option "--machine" is "${id}", expected one of ${ids.join(', ')}${hint}`);
}
