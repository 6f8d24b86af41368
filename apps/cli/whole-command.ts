import { MissionError, printable } from '@orrery/ralph-loop';
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

/** Runs a command line; resolves to the exit code. */
async function answer(args: readonly string[], deps: AnswerDeps): Promise<number> {
  const { screen } = deps;
  const line = readCommandLine(args);
  const { version } = packageJson;
  if (line.kind === 'version') screen.write(`orrery ${version}\n`);
  if (line.kind === 'help')
    screen.write(line.command === undefined ? help(hasAudit()) : commandHelp(line.command, hasAudit()));
  if (line.kind !== 'command') return 0;
  return await obey(line, { ...deps, version });
}

/** Runs a command. Its code is loaded only then. */
async function obey(line: CommandLine & { kind: 'command' }, deps: CommandDeps): Promise<number> {
  const folder = folderOfUser({ env: process.env, cwd: process.cwd() });
  const { options, positionals } = folder === undefined ? line : asFrom(folder, line);
  switch (line.command) {
    case 'run':
      return (await import('./run-command.ts')).runCommand(options, positionals, deps);
    case 'check':
      return (await import('./check-command.ts')).checkCommand(options, positionals, deps);
    case 'ps':
      return (await import('./missions/ps-command.ts')).psCommand(options, deps);
    case 'stop':
    case 'pause':
    case 'continue':
      return (await import('./missions/steer-command.ts')).steerCommand(
        line.command,
        options,
        positionals,
        deps,
      );
    case 'skip':
    case 'approve':
      return (await import('./missions/steer-command.ts')).steerTaskCommand(
        line.command,
        options,
        positionals,
        deps,
      );
    case 'resume':
      return (await import('./missions/resume-command.ts')).resumeCommand(options, positionals, deps);
    case 'up':
      return (await import('./up-command.ts')).upCommand(options, deps);
    case 'peers':
      return (await import('./peers-command.ts')).peersCommand(options, deps);
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
    case 'inspect':
      return (await import('./inspect/inspect-command.ts')).inspectCommand(options, positionals, deps);
    case 'top':
      return (await import('./top/top-command.ts')).topCommand(options, deps);
    case 'stately':
      return (await import('./watch/stately-command.ts')).statelyCommand(options, deps);
    case 'agents':
      return (await import('./agents-command.ts')).agentsCommand(options, deps);
  }
}

/**
 * Describes an error for people. Errors of ours and of the system are a sentence; any other is a bug, and shows its stack.
 */
function explain(error: unknown, [command = '']: readonly string[]): string {
  const help = Object.hasOwn(COMMANDS, command) ? `orrery ${command} --help` : 'orrery --help';
  if (error instanceof UsageError) return `${printableLines(error.message)}\nSee '${help}'.`;
  if (error instanceof MissionError) return error.message;
  if (isOrreryError(error)) return `${error.code}: ${error.message}`;
  if (isOfSystem(error)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** A message may name what a file of others says. */
const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

const isOfSystem = (error: unknown): error is Error => error instanceof Error && 'syscall' in error;

/** Runs a command line; resolves to the exit code, also if it fails. Failures are printed to `errors`. */
export async function answered(args: readonly string[], deps: AnswerDeps): Promise<number> {
  try {
    return await answer(args, deps);
  } catch (error) {
    deps.errors.write(`orrery: ${explain(error, args)}\n`);
    return error instanceof UsageError || error instanceof MissionError ? EXIT_USAGE : EXIT_FAILED;
  }
}

/** Runs the command on the process's own output; resolves to the exit code. */
export async function command(
  args: readonly string[],
  { clock, interruption }: Pick<CommandDeps, 'clock' | 'interruption'>,
): Promise<number> {
  const [screen, errors] = [screenOn(process.stdout), screenOn(process.stderr)];
  const exitCode = await answered(args, { screen, errors, clock, interruption });
  const failure = await screen.settled();
  if (failure !== undefined) errors.write(`orrery: Standard output could not be written: ${failure}\n`);
  await errors.settled();
  return failure === undefined || exitCode !== 0 ? exitCode : EXIT_UNWRITTEN;
}
