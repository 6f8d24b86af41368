/**
 * F-01. `holds` says that accepted = handled + rejected + expired + deadLettered + inFlight, where `inFlight` is counted
 * in the mailboxes and ledgers, not computed as the rest. Threads are asked one after the other: where envelopes move all
 * the time, it says that the numbers agree but for what moved while they were asked.
 */
export interface Conservation {
  readonly accepted: number;
  readonly handled: number;
  readonly rejected: number;
  readonly expired: number;
  readonly deadLettered: number;
  readonly inFlight: number;
  readonly holds: boolean;
}
