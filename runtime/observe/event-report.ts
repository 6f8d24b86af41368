import type { DeadLetter } from '../protocol/dead-letter.ts';
import type { SystemEvent } from '../protocol/system-event.ts';

/** What a place reports to the control thread of what happens in it. */
export type EventReport =
  /** About envelopes. It counts when the thread has committed up to `number`. */
  | {
      readonly t: 'told';
      readonly number: number;
      readonly letters: readonly DeadLetter[];
      readonly events: readonly SystemEvent[];
    }
  /** Events for listeners (`inspect`). */
  | { readonly t: 'events'; readonly events: readonly SystemEvent[] }
  /** An event that must outlive its thread. */
  | { readonly t: 'audited'; readonly event: SystemEvent };
