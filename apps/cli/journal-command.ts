import { table } from '@orrery/ralph-loop';
import { isOrreryError, type JournalFile, type KeptAgent, openJournal } from 'orrery';
import type { CommandDeps } from './command.ts';
import type { TypedOptions } from './run-plan.ts';
import { UsageError } from './usage-error.ts';

/** `orrery journal`: shows what a journal keeps for whom, or has it forget an agent. No system may have it open. */
export async function journalCommand(
  options: TypedOptions,
  positionals: readonly string[],
  { screen }: Pick<CommandDeps, 'screen'>,
): Promise<number> {
  const [path] = positionals;
  if (path === undefined) throw new UsageError('No file; expected "orrery journal FILE"');
  await using journal = await open(path);
  const agent = options['forget'];
  const isJson = options['json'] === true;
  if (agent === undefined) screen.write(await shown(journal, isJson));
  else screen.write(forgottenText(await journal.forget(String(agent)), isJson));
  return 0;
}

async function open(path: string): Promise<JournalFile> {
  try {
    return await openJournal(path);
  } catch (error) {
    if (isOrreryError(error) && error.code === 'INVALID_OPTIONS')
      throw new UsageError(`There is no journal "${path}"`);
    throw error;
  }
}

async function shown(journal: JournalFile, isJson: boolean): Promise<string> {
  const agents = await journal.agents();
  const deadLetters = (await journal.deadLetters()).length;
  if (isJson) return jsonText({ agents, deadLetters });
  const rows = agents.length === 0 ? ['It keeps nothing for any agent'] : keptTable(agents);
  return `${[...rows, `Dead letters: ${deadLetters}`].join('\n')}\n`;
}

const HEADINGS = ['AGENT', 'WAITING', 'OLDEST', 'RECORDS', 'TAKEN IDS', 'BYTES'];

/** What is kept as a table with headings; times are UTC. */
export const keptTable = (agents: readonly KeptAgent[]): string[] =>
  table([
    HEADINGS,
    ...agents.map(({ agentId, waiting, oldestSentAtMs, records, takenIds, bytes }) => [
      agentId,
      String(waiting),
      oldestSentAtMs === undefined ? '-' : timeText(oldestSentAtMs),
      String(records),
      String(takenIds),
      String(bytes),
    ]),
  ]);

function forgottenText(forgotten: KeptAgent, isJson: boolean): string {
  if (isJson) return jsonText(forgotten);
  const { agentId, waiting, records, takenIds, bytes } = forgotten;
  const counts = [
    `envelopes that waited: ${waiting}`,
    `records: ${records}`,
    `taken ids: ${takenIds}`,
    `bytes: ${bytes}`,
  ];
  return `Forgot ${agentId}; ${counts.join(', ')}\n`;
}

const timeText = (atMs: number): string => `${new Date(atMs).toISOString().slice(0, 19)}Z`;

const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
