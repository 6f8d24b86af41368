import type { Conservation } from '../../runtime/protocol/conservation.ts';
import type { DeadLetter } from '../../runtime/protocol/dead-letter.ts';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import type { PeerRow } from '../../runtime/protocol/peer-row.ts';
import type { RosterRow } from '../../runtime/protocol/roster.ts';
import type { RoutingResult } from '../../runtime/protocol/routing-result.ts';
import type { WatchedNode, WatchedPlace } from './watched-node.ts';
import type { SystemEvent } from '../../runtime/protocol/system-event.ts';

/** What watching needs of a system. */
export interface WatchedSystem {
  inspect(
    listener: (event: SystemEvent) => void,
    options?: { readonly eventsPerSecond?: number; readonly inOrder?: boolean },
  ): Promise<() => void>;
  roster(options?: { readonly actors?: boolean }): Promise<readonly RosterRow[]>;
  recentEvents(limit?: number): Promise<readonly SystemEvent[]>;
  deadLetters(): Promise<readonly DeadLetter[]>;
  conservation(): Promise<Conservation>;
  thread(correlationId: string): Promise<readonly A2AEnvelope[]>;
  send(envelope: A2AEnvelope): Promise<RoutingResult>;
  readonly peers: { list(): Promise<readonly PeerRow[]> };
}

/** A dead letter without what it says. `canReplay`: it can be sent again. */
export interface WatchedLetter {
  readonly id?: string;
  readonly sender: string;
  readonly recipient: string;
  readonly type: string;
  readonly code: string;
  readonly reason: string;
  readonly atMs: number;
  readonly canReplay: boolean;
}

/** Spent of what may be. */
export interface WatchedBudget {
  readonly spent: number;
  readonly limit?: number;
}

/**
 * A mission as its loop stands.
 *
 * - `state`    of a task: `waiting`, `running`, `accepted`, `failed`, `blocked`, ...
 * - `pausedBy` whose wish it is that nothing is begun; absent while it goes on.
 */
export interface MissionBoard {
  readonly name: string;
  readonly pausedBy?: string;
  readonly tasks: readonly {
    readonly id: string;
    readonly title?: string;
    readonly state: string;
    readonly agentId?: string;
    readonly attempts: number;
    readonly gates: readonly { readonly name: string; readonly passed: boolean; readonly reason?: string }[];
  }[];
  readonly budget?: { readonly tokens?: WatchedBudget; readonly costUsd?: WatchedBudget };
}

/**
 * A system at a moment, as watchers are shown it.
 *
 * - `orrery`               the version of the runtime.
 * - `startedAtMs`, `nowMs` Unix milliseconds; the first is when it began to be served.
 * - `canUnlock`            whoever has the token for that may act.
 * - `deadLetters`          how many there were, and the last of them, newest first.
 * - `nodes`                other nodes that are watched from here; their events are among those of this one, under the same names.
 * - `recent`               the last events, oldest first; only in the first state that a watcher gets.
 */
export interface WatchState {
  readonly format: 'orrery-watch';
  readonly version: 1;
  readonly node: string;
  readonly name: string;
  readonly orrery: string;
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly canUnlock: boolean;
  readonly agents: readonly RosterRow[];
  readonly places: readonly WatchedPlace[];
  readonly peers: readonly PeerRow[];
  readonly account: Conservation;
  readonly deadLetters: { readonly total: number; readonly last: readonly WatchedLetter[] };
  readonly mission?: MissionBoard;
  readonly nodes?: readonly WatchedNode[];
  readonly recent?: readonly SystemEvent[];
}

const LETTERS_SHOWN = 200;

export function lettersShown(letters: readonly DeadLetter[]): readonly WatchedLetter[] {
  return letters
    .slice(-LETTERS_SHOWN)
    .reverse()
    .map(({ id, sender, recipient, type, code, reason, atMs, envelope }) => ({
      ...(id === undefined ? {} : { id }),
      sender,
      recipient,
      type,
      code,
      reason,
      atMs,
      canReplay: id !== undefined && envelope !== undefined,
    }));
}

const KINDS = ['host', 'control', 'relay', 'peers'] as const;

/** Where agents run, and the threads that are always there. */
export function placesOf(agents: readonly RosterRow[]): readonly WatchedPlace[] {
  const places = new Map<string, RosterRow[]>([
    ['host', []],
    ['control', []],
  ]);
  for (const row of agents) {
    const known = places.get(row.place);
    if (known === undefined) places.set(row.place, [row]);
    else known.push(row);
  }
  return [...places].map(([id, rows]) => {
    const { pid, threadId } = rows[0] ?? {};
    const kind = pid === undefined ? (KINDS.find((one) => one === id) ?? 'worker') : 'process';
    return {
      id,
      kind,
      ...(pid === undefined ? {} : { pid }),
      ...(threadId === undefined ? {} : { threadId }),
      agents: rows.map((row) => row.id),
    };
  });
}
