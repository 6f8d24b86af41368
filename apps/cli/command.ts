import type { Clock } from 'orrery';
import type { Interruption } from './interruption.ts';
import type { Screen } from './screen.ts';

/** What every command is given; `errors` is for what a reader of the output must not take for output. */
export interface CommandDeps {
  readonly screen: Screen;
  readonly errors: Screen;
  readonly clock: Clock;
  readonly interruption: Interruption;
  readonly version: string;
}

/** Of sysexits.h: an output that could be opened could not be written. */
export const EXIT_UNWRITTEN = 74;
