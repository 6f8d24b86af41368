import { hideSecrets } from 'orrery';
import type { MissionCommand } from '../mission/mission.ts';
import { printable } from '../report/printable.ts';

/** A program with its arguments. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * The program that runs a command: a line by the shell, a list as it is. It gets nothing to read, and standard error goes where
 * standard output goes, so that the order of both is kept. On Windows both are read as they come.
 */
export function programOf(run: MissionCommand, platform: NodeJS.Platform = process.platform): Program {
  if (platform === 'win32') {
    const [command = '', ...args] = typeof run === 'string' ? ['cmd.exe', '/d', '/s', '/c', run] : run;
    return { command, args };
  }
  const program = typeof run === 'string' ? ['/bin/sh', '-c', run] : run;
  return { command: '/bin/sh', args: ['-c', 'exec "$@" 2>&1 </dev/null', 'gate', ...program] };
}

/** A command as people would type it, without what looks like a secret or would steer a terminal. */
export function shownCommand(run: MissionCommand): string {
  const line = typeof run === 'string' ? run : run.map(quoted).join(' ');
  return hideSecrets(printable(line));
}

const quoted = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
