#!/usr/bin/env -S node --conditions=orrery-source
import { MissionError, wallClock } from '@orrery/ralph-loop';
import { isOrreryError } from 'orrery';
import packageJson from 'orrery/package.json' with { type: 'json' };
import { agentsCommand } from './agents-command.ts';
import { readCommandLine } from './command-line.ts';
import { commandHelp, help } from './help.ts';
import { Interruption } from './interruption.ts';
import { journalCommand } from './journal-command.ts';
import { keyCommand } from './key-command.ts';
import { mcpCommand } from './mcp-command.ts';
import { COMMANDS } from './options.ts';
import { EXIT_UNWRITTEN, runCommand } from './run-command.ts';
import { type Screen, screenOn } from './screen.ts';
import { simulateCommand } from './simulate-command.ts';
import { upCommand } from './up-command.ts';
import { UsageError } from './usage-error.ts';

const EXIT_USAGE = 64;
const EXIT_FAILED = 1;

async function main(words: readonly string[], screen: Screen, errors: Screen): Promise<number> {
  const line = readCommandLine(words);
  const { version } = packageJson;
  if (line.kind === 'version') screen.write(`orrery ${version}\n`);
  if (line.kind === 'help') screen.write(line.command === undefined ? help() : commandHelp(line.command));
  if (line.kind !== 'command') return 0;
  using interruption = new Interruption({ clock: wallClock, process });
  const deps = { screen, errors, clock: wallClock, interruption, version };
  if (line.command === 'run') return await runCommand(line.options, line.positionals, deps);
  if (line.command === 'up') return await upCommand(line.options, deps);
  if (line.command === 'mcp') return await mcpCommand(line.options, deps);
  if (line.command === 'key') return await keyCommand(line.options, deps);
  if (line.command === 'simulate') return await simulateCommand(line.options, line.positionals, deps);
  if (line.command === 'journal') return await journalCommand(line.options, line.positionals, deps);
  return await agentsCommand(line.options, deps);
}

/** What went wrong, for a person: our own errors have a sentence, anything else is a bug and shows where. */
function explain(error: unknown, [command = '']: readonly string[]): string {
  const help = Object.hasOwn(COMMANDS, command) ? `orrery ${command} --help` : 'orrery --help';
  if (error instanceof UsageError) return `${error.message}\nSee '${help}'.`;
  if (error instanceof MissionError) return error.message;
  if (isOrreryError(error)) return `${error.code}: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

const words = process.argv.slice(2);
const [screen, errors] = [screenOn(process.stdout), screenOn(process.stderr)];
try {
  process.exitCode = await main(words, screen, errors);
} catch (error) {
  errors.write(`orrery: ${explain(error, words)}\n`);
  process.exitCode = error instanceof UsageError || error instanceof MissionError ? EXIT_USAGE : EXIT_FAILED;
}
const failure = await screen.settled();
if (failure !== undefined) {
  errors.write(`orrery: Standard output could not be written: ${failure}\n`);
  process.exitCode ||= EXIT_UNWRITTEN;
}
