import type { Seams } from '../../runtime/protocol/seams.ts';
import type { SystemEvent } from '../../runtime/protocol/system-event.ts';
import { OtherNode, type OtherNodeDeps } from './other-node.ts';
import { EventOrder } from '../../runtime/protocol/event-order.ts';
import type { ParsedWatchOptions } from './watch-options.ts';
import {
  lettersShown,
  placesOf,
  type WatchedLetter,
  type WatchedSystem,
  type WatchState,
} from './watch-state.ts';
import { Watcher } from './watcher.ts';

/** How often watchers are shown the state while something happens, and while nothing does, milliseconds. */
const STATE_MS = 1_000;
const QUIET_STATE_MS = 5_000;
const RECENT_SHOWN = 2_000;
/** How long events are held back when some come from other nodes, milliseconds. */
const HOLD_OTHERS_MS = 300;
/** A thread tells half of what a watcher is shown: it is rarely the only one that has something to tell. */
const THREAD_SHARE = 2;

/** `about`: the name under which the system is served, that of its node, and the version of the runtime. */
export interface WatchFeedDeps {
  readonly system: WatchedSystem;
  readonly seams: Pick<Seams, 'clock'>;
  readonly about: Pick<WatchState, 'node' | 'name' | 'orrery'>;
  readonly options: ParsedWatchOptions;
  readonly fetch: OtherNodeDeps['fetch'];
}

/** Shows a system to whoever watches. While nobody does, nothing is asked of it and no thread tells anything. */
export class WatchFeed {
  readonly #deps: WatchFeedDeps;
  readonly #startedAtMs: number;
  readonly #watchers = new Set<Watcher>();
  #stop: Promise<() => void> | undefined;
  #cancelState: () => void = () => undefined;
  #shownAtMs = 0;
  #hasChanged = false;
  #others: readonly OtherNode[] = [];
  #areLettersStale = true;
  #letters: readonly WatchedLetter[] = [];

  constructor(deps: WatchFeedDeps) {
    this.#deps = deps;
    this.#startedAtMs = deps.seams.clock.now();
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  /** Begins to show the system to one more; it is shown the state, and what happened last, first. */
  async watch(): Promise<Watcher> {
    const { seams, options } = this.#deps;
    const watcher = new Watcher(seams.clock, options.eventsPerSecond, () => this.#left(watcher));
    this.#watchers.add(watcher);
    try {
      this.#stop ??= this.#begin();
      await this.#stop;
      watcher.showState(await this.state({ withRecent: true }));
      return watcher;
    } catch (error) {
      watcher.close();
      throw error;
    }
  }

  /** The system as it is now. */
  async state({ withRecent = false }: { readonly withRecent?: boolean } = {}): Promise<WatchState> {
    const { system, seams, about, options } = this.#deps;
    const [agents, account, peers, last, recent] = await Promise.all([
      system.roster({ actors: true }),
      system.conservation(),
      system.peers.list(),
      this.#lastLetters(),
      withRecent ? system.recentEvents(RECENT_SHOWN) : undefined,
    ]);
    const mission = options.mission?.();
    const nodes = this.#others.map(({ shown }) => shown);
    return {
      format: 'orrery-watch',
      version: 1,
      ...about,
      startedAtMs: this.#startedAtMs,
      nowMs: seams.clock.now(),
      canUnlock: options.unlockToken !== undefined,
      agents,
      places: placesOf(agents),
      peers,
      account,
      deadLetters: { total: account.deadLettered, last },
      ...(mission === undefined ? {} : { mission }),
      ...(nodes.length === 0 ? {} : { nodes }),
      ...(recent === undefined ? {} : { recent }),
    };
  }

  /** Nobody is shown anything any more. */
  close(): void {
    for (const watcher of [...this.#watchers]) watcher.close();
  }

  async #begin(): Promise<() => void> {
    const { system, options, seams, about, fetch } = this.#deps;
    const { clock } = seams;
    const self = about.node;
    const shown = (event: SystemEvent): void => this.#show(event);
    // What comes from elsewhere is longer under way.
    const order = options.nodes.length > 0 ? new EventOrder(clock, shown, HOLD_OTHERS_MS) : undefined;
    let isOver = false;
    const show = (event: SystemEvent): void => {
      if (isOver) return;
      if (order === undefined) shown(event);
      else order.add(event);
    };
    const eventsPerSecond = Math.max(10, options.eventsPerSecond / THREAD_SHARE);
    const stop = await system.inspect(show, { eventsPerSecond, inOrder: true });
    this.#others = options.nodes.map((node) => new OtherNode(node, { self, clock, fetch, show }));
    this.#stateLater();
    return () => {
      // The system tells what was before for a moment yet, and whoever watches next hears it, too.
      isOver = true;
      this.#cancelState();
      for (const other of this.#others) other.close();
      this.#others = [];
      stop();
      order?.flush();
    };
  }

  #show(event: SystemEvent): void {
    this.#hasChanged = true;
    if (event.type === 'dead-letter') this.#areLettersStale = true;
    for (const watcher of this.#watchers) watcher.showEvent(event);
  }

  #left(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
    const stop = this.#stop;
    this.#stop = undefined;
    this.#areLettersStale = true;
    stop?.then(
      (end) => end(),
      () => undefined,
    );
  }

  #stateLater(): void {
    const { clock } = this.#deps.seams;
    const begun = this.#stop;
    this.#cancelState = clock.setTimer(STATE_MS, () => {
      // A system that does not answer has stopped, or its control thread is lost: then nobody is shown anything more.
      void this.#showState()
        .catch(() => this.close())
        .then(() => {
          if (this.#stop === begun && begun !== undefined) this.#stateLater();
        });
    });
  }

  async #showState(): Promise<void> {
    const nowMs = this.#deps.seams.clock.now();
    if (!this.#hasChanged && nowMs - this.#shownAtMs < QUIET_STATE_MS) return;
    this.#hasChanged = false;
    this.#shownAtMs = nowMs;
    const state = await this.state();
    for (const watcher of this.#watchers) watcher.showState(state);
  }

  async #lastLetters(): Promise<readonly WatchedLetter[]> {
    if (!this.#areLettersStale) return this.#letters;
    // While nobody watches, nobody says that there are more.
    this.#areLettersStale = this.#stop === undefined;
    this.#letters = lettersShown(await this.#deps.system.deadLetters());
    return this.#letters;
  }
}
