import { type ApiKeyOwner, newApiKey } from 'orrery/admission';
import { addToFile } from './api-key-file.ts';
import { readCount, readList } from './option-values.ts';
import type { CommandDeps } from './command.ts';
import type { TypedOptions } from './run-plan.ts';
import { UsageError } from './usage-error.ts';

const KINDS = ['agent', 'user', 'service'] as const;
const TIERS = [0, 1, 2, 3] as const;
const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * Runs `orrery key`: makes a key and prints it, with the record by which the gateway recognises it, or adds the record to a
 * file. Resolves to the exit code.
 */
export async function keyCommand(
  options: TypedOptions,
  { screen, clock }: Pick<CommandDeps, 'screen' | 'clock'>,
): Promise<number> {
  const { key, record } = newApiKey(ownerOf(options, clock.now()));
  const { add } = options;
  if (add !== undefined) addToFile(String(add), record);
  if (options['json'] === true) {
    screen.write(`${JSON.stringify({ key, record }, null, 2)}\n`);
    return 0;
  }
  const aboutRecord =
    add === undefined ? ['Its record:', JSON.stringify(record, null, 2)] : [`Its record is in ${add}.`];
  screen.write(
    `${[key, '', 'Nobody can show this key again. Callers send it as X-API-Key.', ...aboutRecord].join('\n')}\n`,
  );
  return 0;
}

function ownerOf(options: TypedOptions, nowMs: number): ApiKeyOwner {
  const kind = KINDS.find((one) => one === (options['kind'] ?? 'service'));
  if (kind === undefined)
    throw new UsageError(`Option "--kind" is "${options['kind']}", expected one of ${KINDS.join(', ')}`);
  const tier = TIERS.find((one) => String(one) === (options['tier'] ?? '3'));
  if (tier === undefined)
    throw new UsageError(`Option "--tier" is "${options['tier']}", expected 0, 1, 2 or 3`);
  const days = readCount('--days', options['days']);
  const { tenant } = options;
  return {
    kind,
    tier,
    roles: readList('--roles', options['roles']),
    ...(tenant === undefined ? {} : { tenant: String(tenant) }),
    ...(days === undefined ? {} : { expiresAtMs: nowMs + days * DAY_MS }),
  };
}
