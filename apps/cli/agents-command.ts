import { table } from '@orrery/ralph-loop';
import type { RosterRow } from 'orrery';
import { agentsMeant } from './agents-meant.ts';
import { readWorkers } from './option-values.ts';
import type { CommandDeps } from './command.ts';
import { startTeam } from './start-team.ts';

/** `orrery agents`: starts the team, prints who is in it, stops it. */
export async function agentsCommand(
  options: Readonly<Record<string, string | true>>,
  { screen }: CommandDeps,
): Promise<number> {
  const workers = readWorkers(options['workers']);
  await using system = await startTeam({
    agents: await agentsMeant(options['agents']),
    ...(workers === undefined ? {} : { workers }),
  });
  const roster = await system.roster();
  screen.write(
    `${options['json'] === true ? JSON.stringify(roster, null, 2) : rosterTable(roster).join('\n')}\n`,
  );
  return 0;
}

const HEADINGS = ['AGENT', 'TIER', 'CAPABILITIES', 'PLACE', 'STATUS', 'MAILBOX', 'RESTARTS'];

/** The roster as a table with headings. */
export const rosterTable = (roster: readonly RosterRow[]): string[] =>
  table([
    HEADINGS,
    ...roster.map(({ id, tier, capabilities, place, status, waiting, restarts }) => [
      id,
      `L${tier}`,
      capabilities.join(', ') || '-',
      place,
      status,
      String(waiting),
      String(restarts),
    ]),
  ]);
