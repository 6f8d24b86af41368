import type { Clock } from '../protocol/seams.ts';
import type { ChannelCounts, ChannelEvent, ChannelEventBody, ChannelIdentity } from './channel-event.ts';

type Untimed<Event> = Event extends unknown ? Omit<Event, 'timestamp'> : never;

/** Counts what channels report, and tells it to those who listen. */
export class ChannelReports {
  readonly #clock: Clock;
  readonly #listeners = new Set<{ readonly listen: (event: ChannelEvent) => void }>();
  readonly #counts: Record<ChannelEvent['type'], number> = {
    'channel-status': 0,
    'delivery-retried': 0,
    'delivery-failed': 0,
    'frame-skipped': 0,
    'handler-failed': 0,
    'hello-refused': 0,
    'connection-refused': 0,
  };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What the ends of one channel report to. */
  of(identity: ChannelIdentity): (event: ChannelEventBody) => void {
    return (event) => this.add({ ...event, ...identity });
  }

  add(event: Untimed<ChannelEvent>): void {
    this.#counts[event.type] += 1;
    if (this.#listeners.size === 0) return;
    const timed = { ...event, timestamp: this.#clock.now() } as ChannelEvent;
    // Not within what happens: a listener may close the channel that it hears of.
    queueMicrotask(() => this.#tell(timed));
  }

  onEvent(listener: (event: ChannelEvent) => void): () => void {
    const entry = { listen: listener };
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  counts(): ChannelCounts {
    return { ...this.#counts };
  }

  #tell(event: ChannelEvent): void {
    for (const { listen } of [...this.#listeners]) {
      try {
        listen(event);
      } catch {
        // A listener has nobody to tell of its own fault, and must not end the process by it.
      }
    }
  }
}
