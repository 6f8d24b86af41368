import { z } from 'zod';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import { Milliseconds } from '../../runtime/protocol/milliseconds.ts';
import { hasMethod, parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { AgentOptions } from '../../runtime/public.ts';
import { anyCommand } from './backends/any-command.ts';
import { BACKENDS } from './backends/backends.ts';
import type { CodingBackend } from './backends/coding-backend.ts';
import { CodingLimits, CodingPermission } from './code-change.ts';

const HOUR_MS = 3_600_000;
/** How much longer than the grace of its program an agent may take to stop: a family that was killed takes time to go, milliseconds. */
export const STOP_MARGIN_MS = 15_000;

const VariableName = z.string().regex(/^[A-Za-z_]\w*$/, 'a name of a variable');
const Text = z.string().min(1);

const OwnOptions = z.strictObject({
  program: Text.optional(),
  args: z.array(z.string()).default([]),
  env: z.array(VariableName).default([]),
  does: z
    .array(z.enum(['change', 'review']))
    .min(1)
    .default(['change', 'review']),
  limits: CodingLimits.default({}),
  permission: CodingPermission.default('run'),
  inactivityMs: Milliseconds.default(600_000),
  graceMs: Milliseconds.default(5_000),
});

/**
 * A coding agent that is a program.
 *
 * - `backend`      which one: `claude`, `codex`, `gemini`, `opencode`, or how another one is started and understood.
 * - `command`      instead: any program with its arguments. Its exit code alone says how it went.
 * - `program`      path or name of the program. @default as the backend says
 * - `args`         arguments after those of the backend.
 * - `env`          names of variables that it is given although they look like secrets.
 * - `does`         `change`, `review`, or both. @default both
 * - `limits`       the most that an attempt may have.
 * - `permission`   the most that an attempt may have. @default `run`
 * - `inactivityMs` how long it may say nothing and use no processor, milliseconds. @default 600_000
 * - `graceMs`      from SIGTERM to SIGKILL, milliseconds. @default 5_000
 *
 * Everything else is as in `AgentOptions`, with a name, a version, a description and a tier unless they are given: the id,
 * 1.0.0, one made of the program, 3. `handlingTimeoutMs` is an hour where neither it nor `limits.timeoutMs` is given.
 */
export interface CommandAgentOptions
  extends Omit<AgentOptions, 'name' | 'version' | 'description' | 'tier'>,
    Partial<Pick<AgentOptions, 'name' | 'version' | 'description' | 'tier'>>,
    z.input<typeof OwnOptions> {
  readonly backend?: CodingBackend | keyof typeof BACKENDS;
  readonly command?: readonly string[];
}

export interface CommandSettings extends z.output<typeof OwnOptions> {
  readonly backend: CodingBackend;
  readonly program: string;
  /** What it prints is text, the end of which is the summary. */
  readonly isPlain: boolean;
}

export interface ReadCommandOptions {
  readonly identity: AgentOptions;
  readonly settings: CommandSettings;
}

const ROOT = 'commandAgent';
const OWN = ['program', 'args', 'env', 'does', 'limits', 'permission', 'inactivityMs', 'graceMs'] as const;

/** Throws INVALID_OPTIONS naming the first field at fault and its value. */
export function readOptions(options: CommandAgentOptions): ReadCommandOptions {
  if (typeof options !== 'object' || options === null) throw invalidOptions(ROOT, options, 'options');
  const { backend, command, ...rest } = options;
  const identity: Record<string, unknown> = { ...rest };
  for (const name of OWN) delete identity[name];
  const given = Object.fromEntries(
    OWN.flatMap((name) => (rest[name] === undefined ? [] : [[name, rest[name]]])),
  );
  const own = parseOptions(OwnOptions, given, ROOT);
  const known = backendOf(backend, command);
  return {
    identity: {
      name: rest.id,
      version: '1.0.0',
      description: `A coding agent: ${known.name}`,
      tier: 3,
      // It keeps nothing between two attempts.
      onThrow: 'keep',
      handlingTimeoutMs: own.limits.timeoutMs ?? HOUR_MS,
      stopTimeoutMs: own.graceMs + STOP_MARGIN_MS,
      ...identity,
    } as AgentOptions,
    settings: {
      ...own,
      backend: known,
      program: own.program ?? known.command,
      isPlain: command !== undefined,
    },
  };
}

const Command = z.tuple([Text], z.string());
const METHODS = ['argsFor', 'reader'] as const;

function backendOf(
  backend: CommandAgentOptions['backend'],
  command: CommandAgentOptions['command'],
): CodingBackend {
  if ((backend === undefined) === (command === undefined))
    throw invalidOptions(`${ROOT}.backend`, backend, 'exactly one of backend and command');
  if (command !== undefined) return anyCommand(parseOptions(Command, command, `${ROOT}.command`));
  if (typeof backend === 'string' && Object.hasOwn(BACKENDS, backend)) return BACKENDS[backend];
  if (!METHODS.every((name) => hasMethod(name)(backend)))
    throw invalidOptions(
      `${ROOT}.backend`,
      backend,
      `a backend, or one of ${Object.keys(BACKENDS).join(', ')}`,
    );
  return backend as CodingBackend;
}
