import type { CodingLimits, CodingPermission } from '../code-change.ts';
import type { StreamReader } from '../streams/stream-reader.ts';

/** What a program is started for. `session`: the one that it is to go on with. */
export interface CodingOrder {
  readonly permission: CodingPermission;
  readonly limits: CodingLimits;
  readonly session: string | undefined;
}

/**
 * A coding agent that is a program: how it is started, and how it is understood. It gets its task on its standard input.
 *
 * - `command` its name on the `PATH`.
 * - `argsFor` its arguments. What it cannot be told, it may not do.
 * - `envFor`  variables that it is started with, beside those that it is given.
 * - `env`     names of its own credentials, which it may have.
 * - `tells`   what it says of its usage. A limit of what it does not tell cannot be kept, and it is not started with one.
 * - `reader`  reads what it prints. `now` in Unix milliseconds.
 */
export interface CodingBackend {
  readonly id: string;
  readonly name: string;
  readonly command: string;
  readonly env: readonly string[];
  readonly tells: readonly ('tokens' | 'costUsd')[];
  argsFor(order: CodingOrder): readonly string[];
  envFor?(order: CodingOrder): Readonly<Record<string, string>>;
  reader(now: () => number): StreamReader;
}
