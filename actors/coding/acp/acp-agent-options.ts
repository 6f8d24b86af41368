import { basename } from 'node:path';
import { z } from 'zod';
import { invalidOptions } from '../../../runtime/protocol/errors.ts';
import { Milliseconds } from '../../../runtime/protocol/milliseconds.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import type { AgentOptions } from '../../../runtime/public.ts';
import { CodingLimits, CodingPermission } from '../code-change.ts';
import { STOP_MARGIN_MS } from '../command-agent-options.ts';

const HOUR_MS = 3_600_000;
const VariableName = z.string().regex(/^[A-Za-z_]\w*$/, 'a name of a variable');
const Text = z.string().min(1);

const OwnOptions = z.strictObject({
  command: z.tuple([Text], z.string()),
  env: z.array(VariableName).default([]),
  tells: z.array(z.enum(['tokens', 'costUsd'])).default([]),
  does: z
    .array(z.enum(['change', 'review']))
    .min(1)
    .default(['change', 'review']),
  limits: CodingLimits.default({}),
  permission: CodingPermission.default('run'),
  inactivityMs: Milliseconds.default(600_000),
  graceMs: Milliseconds.default(5_000),
});
const OWN = Object.keys(OwnOptions.shape) as (keyof typeof OwnOptions.shape)[];

/**
 * A coding agent that is a program which speaks the Agent Client Protocol over its standard input and output.
 *
 * - `command`      the program with its arguments: `['gemini', '--experimental-acp']`.
 * - `env`          names of variables that it is given although they look like secrets.
 * - `tells`        what it says of its usage. A limit of what it does not tell cannot be kept, so it is refused. @default none
 * - `does`         `change`, `review`, or both. @default both
 * - `limits`       the most that an attempt may have. The protocol has no turns that could be limited.
 * - `permission`   the most that an attempt may have: what the program asks for beyond that is refused at once. @default `run`
 * - `inactivityMs` how long it may say nothing and use no processor, milliseconds. @default 600_000
 * - `graceMs`      from the protocol's cancel to SIGTERM, and from there to SIGKILL, milliseconds. @default 5_000
 *
 * Everything else is as in `AgentOptions`, with a name, a version, a description and a tier unless they are given: the id,
 * 1.0.0, one made of the program, 3. `handlingTimeoutMs` is an hour where neither it nor `limits.timeoutMs` is given.
 */
export interface AcpAgentOptions
  extends Omit<AgentOptions, 'name' | 'version' | 'description' | 'tier'>,
    Partial<Pick<AgentOptions, 'name' | 'version' | 'description' | 'tier'>>,
    Omit<z.input<typeof OwnOptions>, 'command' | 'env' | 'tells'> {
  readonly command: readonly string[];
  readonly env?: readonly string[];
  readonly tells?: readonly ('tokens' | 'costUsd')[];
}

/** `name`: of its program, as errors have it. */
export interface AcpSettings extends z.output<typeof OwnOptions> {
  readonly name: string;
}

export interface ReadAcpOptions {
  readonly identity: AgentOptions;
  readonly settings: AcpSettings;
}

const ROOT = 'acpAgent';

/** Throws INVALID_OPTIONS naming the first field at fault and its value. */
export function readAcpOptions(options: AcpAgentOptions): ReadAcpOptions {
  if (typeof options !== 'object' || options === null) throw invalidOptions(ROOT, options, 'options');
  const identity: Record<string, unknown> = { ...options };
  for (const name of OWN) delete identity[name];
  const given = Object.fromEntries(
    OWN.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
  const own = parseOptions(OwnOptions, given, ROOT);
  const name = basename(own.command[0]);
  return {
    identity: {
      name: options.id,
      version: '1.0.0',
      description: `A coding agent: ${name}`,
      tier: 3,
      // It keeps nothing between two attempts.
      onThrow: 'keep',
      handlingTimeoutMs: own.limits.timeoutMs ?? HOUR_MS,
      stopTimeoutMs: stopMs(own),
      ...identity,
    } as AgentOptions,
    settings: { ...own, name },
  };
}

/** The longest time that its program takes to be gone, milliseconds: cancel, SIGTERM, SIGKILL, and what is left of its family. */
export const stopMs = ({ graceMs }: Pick<AcpSettings, 'graceMs'>): number => 2 * graceMs + STOP_MARGIN_MS;
