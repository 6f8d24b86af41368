import { keyText } from '../mailbox/outsider.ts';
import type { Outsider, OutsiderKey } from '../mailbox/behalf.ts';
import type { Seams, Random } from '../protocol/seams.ts';
import type { BackOff } from '../protocol/back-off.ts';
import { backOffMs } from '../protocol/back-off-ms.ts';
import type { RestartIntensity } from './supervisor-options.ts';
import { recordRestart } from './decide-restart.ts';

/** Outsiders that are remembered for one agent. */
const AN_AGENT = 256;
/** Outsiders that are remembered for all agents together. */
const IN_ALL = 16_384;

/** An outsider whom an agent refuses, and for how much longer. */
export interface Refusal {
  readonly key: OutsiderKey;
  readonly forMs: number;
}

interface Remembered {
  readonly key: OutsiderKey;
  readonly limits: OutsiderLimits;
  record: OutsiderRecord;
}

/**
 * The outsiders over whose requests each agent has died, and those whom it refuses for that.
 *
 * When there is no room, a new outsider is not remembered, and their deaths are charged to nobody. So no outsider can have others
 * forgotten or refused.
 */
export class Outsiders {
  readonly #seams: Pick<Seams, 'clock' | 'random'>;
  readonly #agents = new Map<string, Map<string, Remembered>>();
  #size = 0;

  constructor(seams: Pick<Seams, 'clock' | 'random'>) {
    this.#seams = seams;
  }

  /** Charges a death of the agent to an outsider. Returns for how long the agent refuses them from now on; undefined if it does not. */
  charge(agentId: string, { key }: Pick<Outsider, 'key'>, limits: OutsiderLimits): number | undefined {
    const { clock, random } = this.#seams;
    const nowMs = clock.monotonicMs();
    const remembered = this.#remembered(agentId, key, limits, nowMs);
    if (remembered === undefined) return undefined;
    const { record, refuseForMs } = chargeOutsider(remembered.record, nowMs, limits, random);
    remembered.record = record;
    return refuseForMs;
  }

  /** The outsiders whom the agent refuses now. */
  refusals(agentId: string): readonly Refusal[] {
    const nowMs = this.#seams.clock.monotonicMs();
    return [...(this.#agents.get(agentId)?.values() ?? [])].flatMap(({ key, record }) =>
      record.refusedUntilMs > nowMs ? [{ key, forMs: record.refusedUntilMs - nowMs }] : [],
    );
  }

  /** Forgets all outsiders of an agent. */
  remove(agentId: string): void {
    this.#size -= this.#agents.get(agentId)?.size ?? 0;
    this.#agents.delete(agentId);
  }

  /** How many outsiders are remembered. */
  get size(): number {
    return this.#size;
  }

  #remembered(
    agentId: string,
    key: OutsiderKey,
    limits: OutsiderLimits,
    nowMs: number,
  ): Remembered | undefined {
    const name = keyText(key);
    const known = this.#agents.get(agentId)?.get(name);
    if (known !== undefined) return known;
    if ((this.#agents.get(agentId)?.size ?? 0) >= AN_AGENT) this.#sweep(agentId, nowMs);
    if (this.#size >= IN_ALL) for (const id of [...this.#agents.keys()]) this.#sweep(id, nowMs);
    const agent = this.#agents.get(agentId) ?? new Map<string, Remembered>();
    if (agent.size >= AN_AGENT || this.#size >= IN_ALL) return undefined;
    const added = { key, limits, record: NO_RECORD };
    agent.set(name, added);
    this.#agents.set(agentId, agent);
    this.#size += 1;
    return added;
  }

  /** Forgets outsiders whose deaths and refusals are long enough ago. */
  #sweep(agentId: string, nowMs: number): void {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) return;
    for (const [name, { record, limits }] of agent) {
      if (!isForgotten(record, nowMs, limits.intensity)) continue;
      agent.delete(name);
      this.#size -= 1;
    }
    if (agent.size === 0) this.#agents.delete(agentId);
  }
}

/**
 * An outsider over whose requests one agent has died. Times are milliseconds of the clock of `nowMs`.
 *
 * - `deaths`         those in the window, newest first.
 * - `refusals`       how many in a row.
 * - `refusedUntilMs` 0 before the first refusal.
 */
interface OutsiderRecord {
  readonly deaths: readonly number[];
  readonly refusals: number;
  readonly refusedUntilMs: number;
}

const NO_RECORD: OutsiderRecord = { deaths: [], refusals: 0, refusedUntilMs: 0 };

/** How many deaths an outsider may cause, and for how long they are refused then: longer each time. */
interface OutsiderLimits {
  readonly intensity: RestartIntensity;
  readonly refusal: BackOff;
}

/**
 * Charges a death to an outsider. Beyond the intensity they are refused for `refuseForMs`. When that is over, they may ask again;
 * within one window after that, the first death refuses them again.
 */
function chargeOutsider(
  record: OutsiderRecord,
  nowMs: number,
  { intensity, refusal }: OutsiderLimits,
  random: Random,
): { readonly record: OutsiderRecord; readonly refuseForMs: number | undefined } {
  const former = isForgotten(record, nowMs, intensity) ? NO_RECORD : record;
  const { restarts: deaths, exceeded } = recordRestart(former.deaths, nowMs, intensity);
  // Requests that were under way when they were refused say nothing new.
  if (nowMs < former.refusedUntilMs || (!exceeded && former.refusals === 0))
    return { record: { ...former, deaths: bounded(deaths, intensity) }, refuseForMs: undefined };
  const refusals = former.refusals + 1;
  const refuseForMs = backOffMs(refusal, refusals, random);
  const refusedUntilMs = nowMs + refuseForMs;
  return { record: { deaths: bounded(deaths, intensity), refusals, refusedUntilMs }, refuseForMs };
}

/** Says whether a whole window has passed since the last death and the end of the last refusal. */
function isForgotten(
  { deaths, refusedUntilMs }: OutsiderRecord,
  nowMs: number,
  { withinMs }: RestartIntensity,
): boolean {
  return nowMs - Math.max(refusedUntilMs, deaths[0] ?? 0) > withinMs;
}

const bounded = (deaths: readonly number[], { maxRestarts }: RestartIntensity): readonly number[] =>
  deaths.slice(0, maxRestarts + 1);
