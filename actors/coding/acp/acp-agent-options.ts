import { basename } from 'node:path';
import { z } from 'zod';
import type { AgentOptions } from '../../../runtime/public.ts';
import {
  type CodingIdentity,
  CodingSettings,
  agentOptionsOf,
  readSettings,
} from '../coding-agent-options.ts';

const OwnOptions = CodingSettings.extend({
  command: z.tuple([z.string().min(1)], z.string()),
  tells: z.array(z.enum(['tokens', 'costUsd'])).default([]),
});

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
  extends CodingIdentity,
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

/** Throws INVALID_OPTIONS naming the first field at fault and its value. */
export function readAcpOptions(options: AcpAgentOptions): ReadAcpOptions {
  const { own, identity } = readSettings(OwnOptions, options, 'acpAgent');
  const program = basename(own.command[0]);
  return {
    identity: agentOptionsOf(identity, { program, limits: own.limits, endMs: endMs(own) }),
    settings: { ...own, name: program },
  };
}

/** The longest time that its program takes to end, milliseconds: cancel, SIGTERM, SIGKILL. */
export const endMs = ({ graceMs }: Pick<AcpSettings, 'graceMs'>): number => 2 * graceMs;
