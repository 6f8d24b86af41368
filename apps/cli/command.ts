import type { Clock } from 'orrery';
import type { Interruption } from './interruption.ts';
import type { Screen } from './screen.ts';

/** What every command gets. `screen` is standard output, `errors` standard error. */
export interface CommandDeps {
  readonly screen: Screen;
  readonly errors: Screen;
  readonly clock: Clock;
  readonly interruption: Interruption;
  readonly version: string;
}

/** The exit code when an output could not be written (EX_IOERR of sysexits.h). */
export const EXIT_UNWRITTEN = 74;
