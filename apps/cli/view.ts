import type { LoopEvent } from '@orrery/ralph-loop';

/** Shows a mission while it runs. */
export interface View {
  show(event: LoopEvent): void;
  /** Nothing is shown after this. */
  close(): void;
}

/** Shows nothing: the report is enough. */
export const NO_VIEW: View = { show: () => undefined, close: () => undefined };
