import type { LoopEvent } from '@orrery/ralph-loop';

/** Shows a mission while it runs. */
export interface View {
  show(event: LoopEvent): void;
  /** Ends the view. */
  close(): void;
}

/** Shows nothing. */
export const NO_VIEW: View = { show: () => undefined, close: () => undefined };
