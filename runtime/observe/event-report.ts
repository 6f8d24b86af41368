import type { DeadLetter } from '../protocol/dead-letter.ts';
import type { SystemEvent } from '../protocol/system-event.ts';

/** What a place tells of what happens in it. */
export type EventReport =
  /** About envelopes: it counts when the thread has committed up to `number`. */
  | {
      readonly t: 'told';
      readonly number: number;
      readonly letters: readonly DeadLetter[];
      readonly events: readonly SystemEvent[];
    }
  /** What somebody wants to see. */
  | { readonly t: 'events'; readonly events: readonly SystemEvent[] }
  /** What is not to be lost with its thread. */
  | { readonly t: 'audited'; readonly event: SystemEvent };
