import type { ActorRow } from '../protocol/roster.ts';
import type { Mail } from '../mailbox/mail.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import type { Cell } from './cell.ts';
import type { CellMailbox } from './cell-mailbox.ts';
import type { Handling } from './handling.ts';

/** On a machine with other work to do, what an agent fetches and compiles to start takes many times as long. */
export const DEFAULT_START_MS = 30_000;
export const DEFAULT_STOP_MS = 1_000;

/** Makes a cell's next actor. */
export type MakeActor = (cell: Cell) => ActorLife;

/** One life of an agent, from `onStart` to `onStop`, as its cell sees it; wherever its code runs. */
export interface ActorLife {
  /** What `onStart` made, while the actor runs. */
  state: unknown;
  readonly isOver: boolean;
  /** Its code runs in a process that began with it, so that nothing is there of what a life before was told. @default false */
  readonly hasOwnMemory?: boolean;
  /** How long its code may take to notice that its time is up before it is ended, milliseconds. @default 100 */
  readonly graceMs?: number;
  /**
   * Resolves to its state, which is what its code makes of `from`, if there is such. Rejects when `onStart` fails or takes
   * too long, and with SNAPSHOT_UNKNOWN.
   */
  start(from?: Snapshot): Promise<unknown>;
  /** What it would leave to the next actor now; undefined when it keeps nothing. Fails with NOT_SERIALISABLE. */
  snapshot(): Snapshot | undefined | Promise<Snapshot | undefined>;
  /** Has the code handle `mail`: what it returns or throws is the outcome, unless that is `PENDING`. */
  handle(mail: Mail, handling: Handling): unknown;
  /** Says whether its logic takes what names this message type or capability. */
  accepts(name: string): boolean;
  /** Its own machine, as a line of the roster; undefined for one that has none, or none that is seen from here. */
  readonly row?: ActorRow | undefined;
  /** Says whether the code may have begun on this envelope; when its life is over, whether it had. */
  hasBegun(mail: Mail): boolean;
  /** Takes envelopes that wait, to have the code begin on them as soon as it is done with those before. */
  runAhead?(mailbox: CellMailbox): void;
  /** Says whether it has taken this envelope so. */
  hasTaken?(mail: Mail): boolean;
  /** It did not start: what it asked meanwhile is cancelled. */
  abandon(): void;
  /** Ends it with its `onStop`, once; what that throws is reported. */
  end(): Promise<void>;
}

/** Something outside ended the actor: nobody is to blame. */
export class EndedFromOutside extends Error {}

/** Anything can be thrown, also what throws when it is looked at. */
export function isFromOutside(error: unknown): boolean {
  try {
    return error instanceof EndedFromOutside;
  } catch {
    return false;
  }
}
