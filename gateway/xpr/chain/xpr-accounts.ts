/** The names of accounts on Antelope chains. */
export const ACCOUNT_NAME = /^[a-z1-5.]{1,12}[a-j1-5.]?$/;

/**
 * An agent's record on the chain.
 *
 * - `owner`          account of its owner; its own account if it has none.
 * - `stake`          whole XPR.
 * - `rating`         average of its reviews, 0 to 10,000.
 * - `kycLevel`       KYC level of its owner, 0 to 3.
 * - `registeredAtMs` Unix milliseconds.
 */
export interface XprAgent {
  readonly account: string;
  readonly owner: string;
  readonly name: string;
  readonly description: string;
  readonly endpoint: string;
  readonly protocol: string;
  readonly capabilities: readonly string[];
  readonly isActive: boolean;
  readonly stake: number;
  readonly rating: number;
  readonly kycLevel: number;
  readonly registeredAtMs: number;
}

/** Looks accounts up, on the chain or elsewhere. */
export interface XprAccounts {
  /**
   * Resolves to the public keys, `PUB_K1_...` or `EOS...`, that can act alone for the account (its active permission).
   * Resolves to none for an unknown account.
   */
  activeKeys(account: string): Promise<readonly string[]>;
  /** Resolves to the record of an agent; undefined if the account is not registered as one. */
  agent(account: string): Promise<XprAgent | undefined>;
}

/**
 * A job whose payment is in escrow.
 *
 * - `client`       account that pays.
 * - `agent`        account that does the job; empty if there is none yet.
 * - `deliverables` what the agent has to deliver.
 * - `amount`       whole XPR.
 * - `deadlineAtMs` Unix milliseconds; undefined if there is no deadline.
 */
export interface XprJob {
  readonly id: number;
  readonly client: string;
  readonly agent: string;
  readonly title: string;
  readonly description: string;
  readonly deliverables: readonly string[];
  readonly amount: number;
  readonly deadlineAtMs: number | undefined;
}

/** Looks jobs in escrow up. */
export interface XprJobs {
  /** Resolves to a job; undefined if there is none with this id. */
  job(id: number): Promise<XprJob | undefined>;
}
