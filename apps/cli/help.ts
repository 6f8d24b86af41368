import { table } from '@orrery/ralph-loop';
import { COMMANDS, type CommandName, type CommandSpec, type Help } from './options.ts';

/** The text of `orrery --help`. */
export function help(hasAudit = true): string {
  const commands = Object.entries<CommandSpec>(COMMANDS).map(([name, spec]) => [
    usageOf(name, spec),
    said(spec.help, hasAudit),
  ]);
  return lines([
    'Runs missions with a supervised team of agents.',
    '',
    'Usage:',
    ...table([...commands, ['orrery --help, --version', '']], '  '),
    '',
    'Exit codes: 0 all accepted, 1 failed or blocked, 2 a limit was reached, 3 a human is needed, 64 usage, 74 an output was not written, 129/130/143 stopped.',
    "'orrery COMMAND --help' has the options of a command.",
  ]);
}

/** The text of `orrery COMMAND --help`. */
export function commandHelp(name: CommandName, hasAudit = true): string {
  const spec: CommandSpec = COMMANDS[name];
  const options = Object.entries(spec.options).map(([option, { value, help: text }]) => [
    `--${option}${value === undefined ? '' : ` ${value}`}`,
    said(text, hasAudit),
  ]);
  return lines([
    `${said(spec.help, hasAudit)}.`,
    '',
    `Usage: ${usageOf(name, spec)} [OPTIONS]`,
    '',
    ...table(options, '  '),
  ]);
}

const said = (text: Help, hasAudit: boolean): string =>
  typeof text === 'string' ? text : hasAudit ? text.withAudit : text.withoutAudit;

const usageOf = (name: string, spec: CommandSpec): string =>
  ['orrery', name, ...spec.arguments.map((argument) => `[${argument}]`)].join(' ');

const lines = (all: readonly string[]): string => `${all.join('\n')}\n`;
