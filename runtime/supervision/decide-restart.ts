import type { BackOff } from '../protocol/back-off.ts';
import { backOffMs } from '../protocol/back-off-ms.ts';
import type { Restart, Strategy, RestartIntensity } from './supervisor-options.ts';
import type { Random } from '../protocol/seams.ts';
import type { AgentStatus } from '../protocol/roster.ts';

/**
 * One agent of a group, at the moment of a death.
 *
 * - `status`      the dead that may be restarted are `restarting` already.
 * - `consecutive` restarts in a row, after none of which it ran for a full window.
 * - `ranMs`       how long its last life lasted, or lasts.
 */
export interface Member {
  readonly agentId: string;
  readonly restart: Restart;
  readonly status: AgentStatus;
  readonly consecutive: number;
  readonly ranMs: number;
}

/** The state of a group. `members` are in start order; `restarts` are the charged ones, newest first. */
export interface GroupState {
  readonly strategy: Strategy;
  readonly intensity: RestartIntensity;
  readonly backOff: BackOff;
  readonly restarts: readonly number[];
  readonly members: readonly Member[];
}

/**
 * Who is to blame for a death.
 *
 * - `agent`  the agent itself, or somebody inside: the death counts towards the intensity.
 * - `other`  an outsider has been charged with it, or it was counted before: it only delays the next restart.
 * - `nobody` something from outside the agent ended it: it is restarted at once.
 */
export type Blame = 'agent' | 'other' | 'nobody';

/** A death after which the agent may be restarted. */
export interface Death {
  readonly agentId: string;
  readonly blame: Blame;
}

/**
 * What follows from a death.
 *
 * - `stop`        agents still alive that have to end first, last started first.
 * - `restart`     agents to start after `afterMs`, in start order.
 * - `consecutive` the new count of each of them.
 * - `giveUp`      the agents of the group to give up: all that are not at rest.
 * - `restarts`    the group's new list; when it gave up, the restart that was one too many comes first.
 */
export type Decision =
  | {
      readonly kind: 'restart';
      readonly stop: readonly string[];
      readonly restart: readonly string[];
      readonly consecutive: ReadonlyMap<string, number>;
      readonly afterMs: number;
      readonly restarts: readonly number[];
    }
  | {
      readonly kind: 'give-up';
      readonly stop: readonly string[];
      readonly giveUp: readonly string[];
      readonly restarts: readonly number[];
    };

/**
 * Decides what a group does about `deaths` that happened at once, as when a thread ends with all its agents.
 *
 * They count as one restart, and only if an agent is to blame for one of them. Agents that are stopped, parked or failed stay so.
 * A `temporary` neighbour is ended and not restarted (OTP).
 */
export function decideRestart(
  group: GroupState,
  deaths: readonly Death[],
  nowMs: number,
  random: Random,
): Decision {
  const { restarts, exceeded } = recordCharged(group, deaths, nowMs);
  if (exceeded) {
    const concerned = group.members.filter(isNotAtRest);
    return { kind: 'give-up', stop: endingOrder(concerned), giveUp: concerned.map(agentIdOf), restarts };
  }
  const concerned = scope(group, deaths).filter(isNotAtRest);
  const returning = concerned.filter(({ restart }) => restart !== 'temporary');
  return {
    kind: 'restart',
    stop: endingOrder(concerned),
    restart: returning.map(agentIdOf),
    consecutive: countConsecutive(group, deaths, returning),
    afterMs: waitMs(group, deaths, random),
    restarts,
  };
}

function recordCharged({ restarts, intensity }: GroupState, deaths: readonly Death[], nowMs: number) {
  const counts = deaths.some(({ blame }) => blame === 'agent');
  return counts ? recordRestart(restarts, nowMs, intensity) : { restarts, exceeded: false };
}

/** The members that the strategy restarts with the dead ones. */
function scope({ strategy, members }: GroupState, deaths: readonly Death[]): readonly Member[] {
  const isDead = ({ agentId }: Member) => deaths.some((death) => death.agentId === agentId);
  if (strategy === 'one-for-all') return members;
  if (strategy === 'rest-for-one') return members.slice(members.findIndex(isDead));
  return members.filter(isDead);
}

function countConsecutive(
  { intensity }: GroupState,
  deaths: readonly Death[],
  returning: readonly Member[],
): ReadonlyMap<string, number> {
  const isInRow = deaths.some(isBlamed);
  const ends = ({ agentId, status }: Member) =>
    isAlive(status) || deaths.some((death) => death.agentId === agentId);
  return new Map(
    returning.map((member) => {
      const so = settledConsecutive(member, intensity);
      return [member.agentId, isInRow && ends(member) ? so + 1 : so];
    }),
  );
}

/** The longest back-off of those deaths that somebody is to blame for. */
function waitMs(
  { backOff, intensity, members }: GroupState,
  deaths: readonly Death[],
  random: Random,
): number {
  const blamed = new Set(deaths.filter(isBlamed).map(agentIdOf));
  return members
    .filter(({ agentId }) => blamed.has(agentId))
    .map((member) => backOffMs(backOff, settledConsecutive(member, intensity), random))
    .reduce((longest, wait) => Math.max(longest, wait), 0);
}

/** The restarts in a row so far; 0 if the last life lasted a full window. */
const settledConsecutive = ({ ranMs, consecutive }: Member, { withinMs }: RestartIntensity): number =>
  ranMs >= withinMs ? 0 : consecutive;

const isBlamed = ({ blame }: Death): boolean => blame !== 'nobody';

const isAlive = (status: AgentStatus): boolean => status === 'starting' || status === 'running';

const isNotAtRest = ({ status }: Member): boolean =>
  status !== 'stopped' && status !== 'failed' && status !== 'parked';

const endingOrder = (members: readonly Member[]): readonly string[] =>
  members
    .filter(({ status }) => isAlive(status))
    .map(agentIdOf)
    .reverse();

const agentIdOf = ({ agentId }: { readonly agentId: string }): string => agentId;

/**
 * Records a restart at `nowMs` and says whether the supervisor must give up.
 *
 * `restarts` is newest first, in milliseconds of the clock that `nowMs` is from, and is not mutated. The sliding window
 * is OTP's (`add_restart` in supervisor.erl).
 */
export function recordRestart(
  restarts: readonly number[],
  nowMs: number,
  { maxRestarts, withinMs }: RestartIntensity,
): { readonly restarts: readonly number[]; readonly exceeded: boolean } {
  const recent = [nowMs, ...restarts.filter((at) => at >= nowMs - withinMs)];
  return { restarts: recent, exceeded: recent.length > maxRestarts };
}

/**
 * What a group remembers of having been given up, in milliseconds of the clock of `nowMs`.
 *
 * - `givenUp`   times in a row.
 * - `triedAtMs` when it was last tried again.
 */
interface Attempts {
  readonly givenUp: number;
  readonly triedAtMs: number | undefined;
}

/** When a group that is given up at `nowMs` is tried again: after a longer wait each time, unless it ran for a whole window in between. */
export function planTrial(
  { givenUp, triedAtMs }: Attempts,
  nowMs: number,
  { intensity, halfOpen }: { readonly intensity: RestartIntensity; readonly halfOpen: BackOff },
  random: Random,
): { readonly givenUp: number; readonly afterMs: number } {
  const isInRow = triedAtMs !== undefined && nowMs - triedAtMs <= intensity.withinMs;
  const times = isInRow ? givenUp + 1 : 1;
  return { givenUp: times, afterMs: backOffMs(halfOpen, times, random) };
}

/** The `restarts` of a group on trial: all that it may have, so that one more death gives it up again. */
export const restartsOnTrial = (nowMs: number, { maxRestarts }: RestartIntensity): readonly number[] =>
  Array.from({ length: maxRestarts }, () => nowMs);

/** Why an agent has failed, as a sentence with the facts: how many restarts, in what window, and the last error. */
export function describeGivingUp(
  group: { readonly name: string | undefined; readonly intensity: RestartIntensity },
  agentId: string,
  death: { readonly culprit: string; readonly lastError: string | undefined },
): string {
  const { maxRestarts, withinMs } = group.intensity;
  const whose = group.name === undefined ? '' : `group "${group.name}": `;
  const limit = `${maxRestarts} ${maxRestarts === 1 ? 'restart' : 'restarts'} within ${withinMs / 1_000} s, no more are allowed`;
  const by = death.culprit === agentId ? '' : ` (${death.culprit})`;
  return `${whose}${limit}; last error${by}: ${death.lastError ?? 'none, it ended by itself'}`;
}
