import { SseReader } from './sse-reader.ts';
import { readState, type WatchState } from './watch-state.ts';
import { readEvent, type WatchedEvent } from './watched-event.ts';

/** What a watched team tells: its state, or what has happened. */
export type WatchMessage =
  | { readonly kind: 'state'; readonly state: WatchState }
  | { readonly kind: 'events'; readonly events: readonly WatchedEvent[] };

/** Reads what a team tells to whoever watches it (`/watch/events`) from chunks of bytes, wherever these are cut. */
export class WatchReader {
  readonly #events = new SseReader();

  /** What is whole with this chunk; what nobody here knows is left out. Throws if a state cannot be read. */
  *push(chunk: Uint8Array): Generator<WatchMessage, void> {
    for (const { event, data } of this.#events.push(chunk)) {
      if (event === 'state') yield { kind: 'state', state: stateIn(data) };
      if (event === 'events') yield* eventsIn(data);
    }
  }
}

function* eventsIn(data: string): Generator<WatchMessage, void> {
  const value = parsed(data);
  if (!Array.isArray(value)) return;
  const events = value.map(readEvent).filter((one) => one !== undefined);
  if (events.length > 0) yield { kind: 'events', events };
}

function stateIn(data: string): WatchState {
  const state = readState(parsed(data));
  if (state === undefined) throw new Error('it tells its state in a way that this version cannot read');
  return state;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 10_000;

/** How long to wait before the next try to connect, after so many that failed, milliseconds. */
export const retryDelayMs = (failures: number): number =>
  Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, failures - 1));
