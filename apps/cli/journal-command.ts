import { table } from '@orrery/ralph-loop';
import {
  backupJournal,
  checkJournal,
  isOrreryError,
  type JournalCheck,
  type JournalFile,
  type JournalledAgent,
  openJournal,
  type Salvaged,
  salvageJournal,
} from 'orrery';
import type { CommandDeps } from './command.ts';
import type { TypedOptions } from './run-plan.ts';
import { UsageError } from './usage-error.ts';

/**
 * Runs `orrery journal`: shows what a journal holds for each agent, forgets an agent, checks, copies or salvages it. Except
 * for a copy, no system may have it open. Resolves to the exit code.
 */
export async function journalCommand(
  options: TypedOptions,
  positionals: readonly string[],
  { screen }: Pick<CommandDeps, 'screen'>,
): Promise<number> {
  const [path] = positionals;
  if (path === undefined) throw new UsageError('No file; expected "orrery journal FILE"');
  const isJson = options['json'] === true;
  const asked = ['check', 'backup', 'salvage', 'forget'].filter((name) => options[name] !== undefined);
  if (asked.length > 1) throw new UsageError(`--${asked[0]} and --${asked[1]} cannot be given together`);
  if (options['check'] === true) {
    const found = await existing(path, () => checkJournal(path));
    screen.write(isJson ? jsonText(found) : checkText(path, found));
    return found.damage.length === 0 ? 0 : 1;
  }
  if (options['backup'] !== undefined) {
    const target = String(options['backup']);
    const copied = await existing(path, () => backupJournal(path, target));
    screen.write(isJson ? jsonText(copied) : `${target} has what ${path} held; ${countsText(copied)}\n`);
    return 0;
  }
  if (options['salvage'] !== undefined) {
    const target = String(options['salvage']);
    const salvaged = await existing(path, () => salvageJournal(path, target));
    screen.write(isJson ? jsonText(salvaged) : salvagedText(target, salvaged));
    return 0;
  }
  await using journal = await existing(path, () => openJournal(path));
  const agent = options['forget'];
  if (agent === undefined) screen.write(await shown(journal, isJson));
  else screen.write(forgottenText(await journal.forget(String(agent)), isJson));
  return 0;
}

async function existing<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isOrreryError(error) && error.code === 'INVALID_OPTIONS' && error.details['field'] === 'path')
      throw new UsageError(`There is no journal "${path}"`);
    throw error;
  }
}

function checkText(path: string, check: JournalCheck): string {
  const { damage } = check;
  if (damage.length > 0) return `${damage.map((what) => `Damaged: ${what}`).join('\n')}\n`;
  return `${path} is whole; ${countsText(check)}\n`;
}

function countsText({ commits, mails, records }: JournalCheck): string {
  const counts = [
    ...(commits === undefined ? [] : [`commits: ${commits}`]),
    `envelopes: ${mails ?? 0}`,
    `records: ${records ?? 0}`,
  ];
  return counts.join(', ');
}

function salvagedText(target: string, { mails, records, lost }: Salvaged): string {
  const out = `${target} has what is whole; envelopes: ${mails}, records: ${records}`;
  return `${[out, ...lost.map((what) => `Lost: ${what}`)].join('\n')}\n`;
}

async function shown(journal: JournalFile, isJson: boolean): Promise<string> {
  const agents = await journal.agents();
  const deadLetters = (await journal.deadLetters()).length;
  if (isJson) return jsonText({ agents, deadLetters });
  const rows = agents.length === 0 ? ['It keeps nothing for any agent'] : keptTable(agents);
  return `${[...rows, `Dead letters: ${deadLetters}`].join('\n')}\n`;
}

const HEADINGS = ['AGENT', 'WAITING', 'OLDEST', 'RECORDS', 'TAKEN IDS', 'BYTES'];

/** Formats what a journal holds as a table with headings. Times are UTC. */
export const keptTable = (agents: readonly JournalledAgent[]): string[] =>
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

function forgottenText(forgotten: JournalledAgent, isJson: boolean): string {
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
