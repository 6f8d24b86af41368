import type { MakeActor } from './actor-life.ts';
import type { AgentDefinition } from '../agent/agent-definition.ts';
import type { Cell } from './cell.ts';
import { type ErrorData, errorWithStack, reasonOf, snapshotUnknown } from '../protocol/errors.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { isSnapshotUnknown } from '../upgrade/restore.ts';
import { stateIdentity } from '../upgrade/state-identity.ts';

/** The code that a cell is to run from now on; `makeActor` if it is not in this thread. */
export interface NextCode {
  readonly definition: AgentDefinition<unknown>;
  readonly makeActor?: MakeActor | undefined;
}

/**
 * - `graceMs` how long what is in hand may take until it is cut off.
 * - `isFresh` the state is not handed on.
 */
export interface ChangeOptions {
  readonly graceMs: number;
  readonly isFresh: boolean;
}

/**
 * What became of a cell whose code was changed. `running`: by the new code, with the state where there was one; `parked`: the
 * state waits for other code, `why` says why; `later`: the new code will run when the agent is started again.
 */
export type Changed =
  | { readonly outcome: 'running' | 'later' }
  | { readonly outcome: 'parked'; readonly snapshot: Snapshot; readonly why: ErrorData };

/**
 * Changes the code of a cell under load: what is in hand is finished, what waits or comes stays in the mailbox, and the next
 * actor goes on with the state of the last. When the state cannot be taken this rejects, and the cell goes on as before.
 *
 * An actor that dies or is stopped meanwhile leaves no state; then the new code runs from the next start on.
 */
export async function changeCell(
  cell: Cell,
  next: NextCode,
  { graceMs, isFresh }: ChangeOptions,
): Promise<Changed> {
  if (cell.status === 'starting') await cell.lives.started;
  if (cell.status !== 'running') return adopt(cell, next);
  cell.become('upgrade.asked');
  await atRest(cell, graceMs);
  if (!isFinishing(cell)) return adopt(cell, next);
  let snapshot: Snapshot | undefined;
  try {
    snapshot = isFresh ? undefined : await cell.lives.snapshot();
  } catch (error) {
    if (isFinishing(cell)) {
      cell.become('upgrade.dropped');
      cell.goOn();
    }
    throw error;
  }
  if (!isFinishing(cell)) return adopt(cell, next);
  const reason = `it was not done ${graceMs} ms after its agent was to be upgraded`;
  cell.cutOffInHand({ reason });
  cell.become('upgrade.ready');
  await cell.endActor({ reason });
  adopt(cell, next);
  return isChanging(cell) ? begin(cell, snapshot) : LATER;
}

/** Has a parked cell go on with its state in other code, or without it. */
export async function resumeCell(
  cell: Cell,
  next: NextCode,
  snapshot: Snapshot | undefined,
): Promise<Changed> {
  adopt(cell, next);
  cell.become('upgrade.resumed');
  return isChanging(cell) ? begin(cell, snapshot) : LATER;
}

const RUNNING: Changed = { outcome: 'running' };
const LATER: Changed = { outcome: 'later' };

function adopt(cell: Cell, { definition, makeActor }: NextCode): Changed {
  cell.lives.adopt(definition, makeActor);
  return LATER;
}

function begin(cell: Cell, snapshot: Snapshot | undefined): Promise<Changed> {
  return snapshot === undefined ? startFresh(cell) : startFrom(cell, snapshot);
}

/** A start without a state that fails is a death like any other. */
async function startFresh(cell: Cell): Promise<Changed> {
  cell.become('state.dropped');
  cell.thread.journal?.states.forget(cell);
  try {
    return (await cell.start()) ? RUNNING : LATER;
  } catch (error) {
    cell.thread.crashed(cell, error, cell.lives.taint);
    return LATER;
  }
}

/** A start that fails must not cost the state. */
async function startFrom(cell: Cell, snapshot: Snapshot): Promise<Changed> {
  try {
    if (!(await cell.start(snapshot))) return LATER;
    cell.thread.journal?.states.changed(cell);
    return RUNNING;
  } catch (error) {
    cell.park();
    return { outcome: 'parked', snapshot, why: errorWithStack(whyParked(cell, snapshot, error)) };
  }
}

function whyParked(
  { row, definition }: Cell,
  { machineId, version, hash }: Snapshot,
  error: unknown,
): unknown {
  if (isSnapshotUnknown(error)) return error;
  const of = { from: { machineId, version, hash }, to: stateIdentity(definition) };
  return snapshotUnknown(row.id, `its start failed: ${reasonOf(error)}`, of, error);
}

/** Resolves when nothing is in hand, or when that took too long, or when the actor is over. */
async function atRest(cell: Cell, graceMs: number): Promise<void> {
  if (cell.isAtRest) return;
  const { wheel, seams } = cell.thread;
  const timer = wheel.add(seams.clock.now() + graceMs, () => cell.lives.rested());
  await cell.lives.untilRested();
  timer.cancel();
}

const isFinishing = ({ status }: Cell): boolean => status === 'finishing';
const isChanging = ({ status }: Cell): boolean => status === 'changing';
