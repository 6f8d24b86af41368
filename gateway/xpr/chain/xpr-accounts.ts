/** As Antelope names accounts. */
export const ACCOUNT_NAME = /^[a-z1-5.]{1,12}[a-j1-5.]?$/;

/**
 * An agent as the chain has it registered.
 *
 * - `owner`          the account of the person who owns it; its own without one.
 * - `stake`          whole XPR.
 * - `rating`         the average of its reviews, 0 to 10,000.
 * - `kycLevel`       how far its owner has been identified, 0 to 3.
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

/** What is known of accounts: from the chain, or from wherever a deployment keeps it. */
export interface XprAccounts {
  /**
   * The public keys, `PUB_K1_...` or `EOS...`, each of which alone may act for the account (its active permission); none for
   * an account that there is not.
   */
  activeKeys(account: string): Promise<readonly string[]>;
  /** Undefined for an account that is registered as no agent. */
  agent(account: string): Promise<XprAgent | undefined>;
}

/**
 * A job whose payment lies in escrow.
 *
 * - `client`       who pays, `agent` who does it; empty while nobody does.
 * - `deliverables` what is to be handed over.
 * - `amount`       whole XPR.
 * - `deadlineAtMs` Unix milliseconds; undefined without one.
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

/** The jobs in escrow. */
export interface XprJobs {
  /** Undefined for a job that there is not. */
  job(id: number): Promise<XprJob | undefined>;
}
