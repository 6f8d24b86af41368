/** Watches that something holds. What does not is told once, in a sentence. */
export interface Check {
  readonly violations: readonly string[];
  /** Looks at what is so now; who only hears of events has nothing to look at. */
  check?(): void;
}
