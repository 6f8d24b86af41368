import { z } from 'zod';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import { hasMethod, parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { AgentOptions } from '../../runtime/public.ts';
import { anyCommand } from './backends/any-command.ts';
import { BACKENDS } from './backends/backends.ts';
import type { CodingBackend } from './backends/coding-backend.ts';
import { type CodingIdentity, CodingSettings, agentOptionsOf, readSettings } from './coding-agent-options.ts';

const Text = z.string().min(1);

const OwnOptions = CodingSettings.extend({ program: Text.optional(), args: z.array(z.string()).default([]) });

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
export interface CommandAgentOptions extends CodingIdentity, Omit<z.input<typeof OwnOptions>, 'env'> {
  readonly env?: readonly string[];
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

/** Throws INVALID_OPTIONS naming the first field at fault and its value. */
export function readOptions(options: CommandAgentOptions): ReadCommandOptions {
  const { own, identity } = readSettings(OwnOptions, options, ROOT);
  const { backend, command, ...agent } = identity as CommandAgentOptions;
  const known = backendOf(backend, command);
  return {
    identity: agentOptionsOf(agent, { program: known.name, limits: own.limits, endMs: own.graceMs }),
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
