import type { LoopEvent } from '@orrery/ralph-loop';

/** What the loop tells; of a task that was accepted, with what its agent says it came to. */
export type Seen = LoopEvent & { readonly summary?: string | undefined };

/** Shows a mission while it runs. */
export interface View {
  show(event: Seen): void;
  /** Nothing is shown after this. */
  close(): void;
}

/** Shows nothing: the report is enough. */
export const NO_VIEW: View = { show: () => undefined, close: () => undefined };
