import { parseArgs } from 'node:util';
import { nearest } from '@orrery/ralph-loop';
import { COMMANDS, type CommandName, type CommandSpec } from './options.ts';
import { UsageError } from './usage-error.ts';

/** A command line with known commands and options. Their values are checked by the command. */
export type CommandLine =
  | { readonly kind: 'help'; readonly command?: CommandName }
  | { readonly kind: 'version' }
  | {
      readonly kind: 'command';
      readonly command: CommandName;
      readonly options: Readonly<Record<string, string | true>>;
      readonly positionals: readonly string[];
    };

/** Reads the arguments after `orrery`. Throws UsageError naming the one that is wrong. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const [first, ...rest] = args;
  if (first === undefined) throw new UsageError(`No command; ${known()}`);
  if (first === '--help' || first === '-h') return { kind: 'help' };
  if (first === '--version' || first === '-V') return { kind: 'version' };
  if (!isCommand(first)) throw new UsageError(unknownCommand(first));
  const { options, positionals } = readOptions(first, rest);
  if (options['help'] === true) return { kind: 'help', command: first };
  return { kind: 'command', command: first, options, positionals };
}

const isCommand = (word: string): word is CommandName => Object.hasOwn(COMMANDS, word);
const known = (): string => {
  const names = Object.keys(COMMANDS);
  return `expected ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
};

function unknownCommand(word: string): string {
  if (word.startsWith('-')) return `Unknown option "${word}" before the command; ${known()}`;
  const meant = nearest(word, Object.keys(COMMANDS));
  return `Unknown command "${word}"; ${meant === undefined ? known() : `did you mean "${meant}"?`}`;
}

function readOptions(command: CommandName, args: readonly string[]) {
  const spec: CommandSpec = COMMANDS[command];
  const types = Object.entries(spec.options).map(
    ([name, { value }]) => [name, { type: value === undefined ? 'boolean' : 'string' } as const] as const,
  );
  const parsed = parseArgs({
    args: [...args],
    options: { ...Object.fromEntries(types), help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const options: Record<string, string | true> = {};
  const positionals: string[] = [];
  for (const token of parsed.tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const value = readValue(command, spec, token);
    const former = options[token.name];
    if (former !== undefined && spec.options[token.name]?.isRepeatable !== true)
      throw new UsageError(`Option "${token.rawName}" is given twice`);
    // Repeated values are joined by commas, which separate values too.
    options[token.name] = former === undefined ? value : `${former},${value}`;
  }
  const extra = positionals[spec.arguments.length];
  if (extra !== undefined) throw new UsageError(`Unexpected argument "${extra}" for "${command}"`);
  return { options, positionals };
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function readValue(command: CommandName, spec: CommandSpec, token: OptionToken): string | true {
  const { name, rawName, value, inlineValue } = token;
  const option = Object.hasOwn(spec.options, name) ? spec.options[name] : undefined;
  if (option === undefined) throw new UsageError(unknownOption(command, spec, rawName));
  if (option.value === undefined) {
    if (value !== undefined) throw new UsageError(`Option "${rawName}" takes no value, found "${value}"`);
    return true;
  }
  if (value === undefined || value === '')
    throw new UsageError(`Option "${rawName}" needs a value: ${option.value}`);
  // "--json --record x" is a forgotten value far more often than a file named "--record".
  if (!inlineValue && LIKE_AN_OPTION.test(value)) {
    throw new UsageError(
      `Option "${rawName}" needs a value, found "${value}"; write "${rawName}=${value}" if you mean it`,
    );
  }
  return value;
}

/** Not every word that begins with a dash: one key in sixty-four does. */
const LIKE_AN_OPTION = /^-(?:[a-z]?|-[a-z-]*)(?:=|$)/i;

function unknownOption(command: CommandName, spec: CommandSpec, rawName: string): string {
  const meant = nearest(rawName.replace(/^-+/, ''), Object.keys(spec.options));
  const hint = meant === undefined ? '' : `; did you mean "--${meant}"?`;
  return `Unknown option "${rawName}" for "${command}"${hint}`;
}
