/**
 * The count of all envelopes (F-01). `holds` says that accepted = handled + rejected + expired + deadLettered + inFlight.
 *
 * `inFlight` is counted in mailboxes and ledgers, not computed as the rest. Threads are asked one after the other. If envelopes
 * move meanwhile, `holds` allows for those that moved.
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
