import { MissionError } from '@orrery/ralph-loop';
import { isOrreryError } from 'orrery';
import packageJson from 'orrery/package.json' with { type: 'json' };
import { type CommandDeps, EXIT_UNWRITTEN } from './command.ts';
import { hasAudit } from './audit-app.ts';
import { type CommandLine, readCommandLine } from './command-line.ts';
import { commandHelp, help } from './help.ts';
import { COMMANDS } from './options.ts';
import { screenOn } from './screen.ts';
import { asFrom, folderOfUser } from './typed-paths.ts';
import { UsageError } from './usage-error.ts';

const EXIT_USAGE = 64;
const EXIT_FAILED = 1;

type AnswerDeps = Omit<CommandDeps, 'version'>;

/** Does what was typed, and says what that came to. */
async function answer(words: readonly string[], deps: AnswerDeps): Promise<number> {
  const { screen } = deps;
  const line = readCommandLine(words);
  const { version } = packageJson;
  if (line.kind === 'version') screen.write(`orrery ${version}\n`);
  if (line.kind === 'help')
    screen.write(line.command === undefined ? help(hasAudit()) : commandHelp(line.command, hasAudit()));
  if (line.kind !== 'command') return 0;
  return await obey(line, { ...deps, version });
}

/** A command is loaded when it is asked for: none pays for what another needs. */
async function obey(line: CommandLine & { kind: 'command' }, deps: CommandDeps): Promise<number> {
  const folder = folderOfUser({ env: process.env, cwd: process.cwd() });
  const { options, positionals } = folder === undefined ? line : asFrom(folder, line);
  switch (line.command) {
    case 'run':
      return (await import('./run-command.ts')).runCommand(options, positionals, deps);
    case 'up':
      return (await import('./up-command.ts')).upCommand(options, deps);
    case 'mcp':
      return (await import('./mcp-command.ts')).mcpCommand(options, deps);
    case 'key':
      return (await import('./key-command.ts')).keyCommand(options, deps);
    case 'init':
      return (await import('./init-command.ts')).initCommand(options, positionals, deps);
    case 'doctor':
      return (await import('./doctor-command.ts')).doctorCommand(options, deps);
    case 'simulate':
      return (await import('./simulate-command.ts')).simulateCommand(options, positionals, deps);
    case 'journal':
      return (await import('./journal-command.ts')).journalCommand(options, positionals, deps);
    case 'agents':
      return (await import('./agents-command.ts')).agentsCommand(options, deps);
  }
}

/** What went wrong, for a person: our own errors and the system's have a sentence, anything else is a bug and shows where. */
function explain(error: unknown, [command = '']: readonly string[]): string {
  const help = Object.hasOwn(COMMANDS, command) ? `orrery ${command} --help` : 'orrery --help';
  if (error instanceof UsageError) return `${error.message}\nSee '${help}'.`;
  if (error instanceof MissionError) return error.message;
  if (isOrreryError(error)) return `${error.code}: ${error.message}`;
  if (isOfSystem(error)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

const isOfSystem = (error: unknown): error is Error => error instanceof Error && 'syscall' in error;

/** What the process exits with: it was done, or `errors` has been told why not. */
export async function answered(words: readonly string[], deps: AnswerDeps): Promise<number> {
  try {
    return await answer(words, deps);
  } catch (error) {
    deps.errors.write(`orrery: ${explain(error, words)}\n`);
    return error instanceof UsageError || error instanceof MissionError ? EXIT_USAGE : EXIT_FAILED;
  }
}

/** Everything that the command does once it is loaded; what the process exits with. */
export async function command(
  words: readonly string[],
  { clock, interruption }: Pick<CommandDeps, 'clock' | 'interruption'>,
): Promise<number> {
  const [screen, errors] = [screenOn(process.stdout), screenOn(process.stderr)];
  const exitCode = await answered(words, { screen, errors, clock, interruption });
  const failure = await screen.settled();
  if (failure !== undefined) errors.write(`orrery: Standard output could not be written: ${failure}\n`);
  await errors.settled();
  return failure === undefined || exitCode !== 0 ? exitCode : EXIT_UNWRITTEN;
}
