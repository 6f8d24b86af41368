import type { Mission } from '../mission/mission.ts';
import type { StopReason } from './stop-reason.ts';
import type { TaskView } from './why-it-goes-on.ts';

/**
 * The outcome of a mission, with all its tasks in the order of the file. Times are Unix milliseconds.
 *
 * - `code` branch that its changes were merged into, and the commit that it began at.
 */
export interface MissionOutcome {
  readonly mission: Mission;
  readonly root: string;
  readonly stopReason: StopReason;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly assigner: string;
  readonly gate: string;
  readonly tasks: readonly TaskView[];
  readonly code?: { readonly branch: string; readonly base: string };
}
