import { Recording, type WatchedEvent, type WatchState } from '@orrery/visualiser/model';
import type { LinkStatus, WatchSink } from '../watch/watch-link.ts';

/** How much of a team is kept: minutes of a busy one, in some ten megabytes. */
const MOST_KEPT = 30_000;

/** What a team tells while it is watched, also over connections that were lost. */
export class TeamRecord implements WatchSink {
  readonly recording = Recording.live({ maxLive: MOST_KEPT, checkpoints: 16 });
  readonly #onChange: () => void;
  #status: LinkStatus = { kind: 'connecting' };
  #lastMs = 0;
  #hasState = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get status(): LinkStatus {
    return this.#status;
  }

  /** Whether the team has said how it is. */
  get hasState(): boolean {
    return this.#hasState;
  }

  state(state: WatchState): void {
    // What is told again after a lost connection is known already.
    const lastMs = this.#lastMs;
    this.#append(state.recent.filter(({ timestamp }) => timestamp > lastMs));
    this.recording.appendState(state);
    this.#hasState = true;
    this.#onChange();
  }

  events(events: readonly WatchedEvent[]): void {
    this.#append(events);
    this.#onChange();
  }

  linked(status: LinkStatus): void {
    this.#status = status;
    this.#onChange();
  }

  #append(events: readonly WatchedEvent[]): void {
    for (const { timestamp } of events) this.#lastMs = Math.max(this.#lastMs, timestamp);
    this.recording.appendEvents(events);
  }
}
