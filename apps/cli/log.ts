import { hideSecrets, hideSecretsIn, type Logger } from 'orrery';
import { isInstalled } from './optional-packages.ts';
import type { TypedOptions } from './run-plan.ts';
import type { Screen } from './screen.ts';
import { UsageError } from './usage-error.ts';

const LEVELS = ['error', 'warn', 'info', 'silent'] as const;
const FORMATS = ['json', 'text'] as const;

/** How a log is written, as the options say. */
export interface LogPlan {
  readonly level: (typeof LEVELS)[number];
  readonly format: (typeof FORMATS)[number];
}

/**
 * Reads `--log-level` and `--log-format`; undefined where there is to be no log. Throws UsageError, also where one is asked for
 * and pino is not installed.
 */
export function planLog(
  options: TypedOptions,
  { isTerminal }: Pick<Screen, 'isTerminal'>,
): LogPlan | undefined {
  const level = oneOf('--log-level', options['log-level'], LEVELS) ?? 'warn';
  const format = oneOf('--log-format', options['log-format'], FORMATS) ?? (isTerminal ? 'text' : 'json');
  if (level === 'silent') return undefined;
  if (isInstalled('pino')) return { level, format };
  const asked = ['log-level', 'log-format'].find((option) => options[option] !== undefined);
  if (asked === undefined) return undefined;
  throw new UsageError(`Option "--${asked}" needs a package that is not installed: npm install pino`);
}

function oneOf<Value extends string>(
  option: string,
  typed: string | true | undefined,
  values: readonly Value[],
): Value | undefined {
  const value = values.find((one) => one === typed);
  if (typed === undefined || value !== undefined) return value;
  throw new UsageError(`Option "${option}" is "${typed}", expected ${values.join(', ')}`);
}

/** A log on standard error. What looks like a credential is hidden in it. */
export async function openLog({ level, format }: LogPlan, errors: Pick<Screen, 'write'>): Promise<Logger> {
  const { pino, stdTimeFunctions } = await import('pino');
  const write = (line: string): void => errors.write(format === 'json' ? line : textOf(JSON.parse(line)));
  const logger: Logger = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => hideSecretsIn(fields) as Record<string, unknown>,
      },
      hooks: {
        logMethod([fields, message, ...rest], method) {
          method.apply(this, [fields, hideSecrets(String(message)), ...rest]);
        },
      },
    },
    { write },
  );
  return logger;
}

/** A line for people: when, how bad, what. */
function textOf({
  time,
  level,
  msg,
}: {
  readonly time: string;
  readonly level: string;
  readonly msg: string;
}) {
  return `${time} ${level.toUpperCase().padEnd(5)} ${msg}\n`;
}
