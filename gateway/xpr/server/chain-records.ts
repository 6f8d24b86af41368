import type { XprAccounts, XprAgent } from '../chain/xpr-accounts.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';

/** What is known of an account. */
interface Known {
  agent: XprAgent | undefined;
  /** Until when the chain is not asked again. */
  untilMs: number;
  asking: Promise<void> | undefined;
}

/**
 * `ttlMs`: how long a record is believed. `retryMs`: how long the chain is left alone when it has not answered; until then,
 * and while it is asked again, the last record stands.
 */
export interface ChainRecordsOptions {
  readonly ttlMs: number;
  readonly retryMs: number;
}

/** The records of a few accounts, for whoever shows them to everybody: the chain is asked seldom, however many ask. */
export class ChainRecords {
  readonly #accounts: Pick<XprAccounts, 'agent'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #options: ChainRecordsOptions;
  readonly #known = new Map<string, Known>();

  constructor(accounts: Pick<XprAccounts, 'agent'>, clock: Pick<Clock, 'now'>, options: ChainRecordsOptions) {
    this.#accounts = accounts;
    this.#clock = clock;
    this.#options = options;
  }

  /** Undefined when the account is registered as no agent, or nothing is known of it yet and the chain does not answer. */
  async of(account: string): Promise<XprAgent | undefined> {
    let known = this.#known.get(account);
    if (known === undefined) {
      known = { agent: undefined, untilMs: Number.NEGATIVE_INFINITY, asking: undefined };
      this.#known.set(account, known);
    }
    if (known.untilMs <= this.#clock.now()) known.asking ??= this.#ask(account, known);
    if (known.agent === undefined) await known.asking;
    return known.agent;
  }

  async #ask(account: string, known: Known): Promise<void> {
    const { ttlMs, retryMs } = this.#options;
    let goodForMs = retryMs;
    try {
      known.agent = await this.#accounts.agent(account);
      goodForMs = ttlMs;
    } catch {
      // Who shows a card shows it without the chain too.
    }
    known.untilMs = this.#clock.now() + goodForMs;
    known.asking = undefined;
  }
}
