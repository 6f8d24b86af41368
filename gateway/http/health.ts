import { isOrreryError } from '../../runtime/protocol/errors.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';

/**
 * Something that keeps a system from doing all that it should.
 *
 * - `kind`  what it is, such as `agent-failed`.
 * - `what`  a sentence about this one, which says nothing that was thrown.
 * - `cause` what was thrown, for the operator alone.
 */
export interface Trouble {
  readonly kind: string;
  readonly what: string;
  readonly cause?: unknown;
}

/** After these the process cannot go on: it is to be started again. */
const FATAL: ReadonlySet<string> = new Set(['control-lost', 'stopped']);

export const isFatal = ({ kind }: Trouble): boolean => FATAL.has(kind);

/** Looks for trouble of one sort. What it rejects with is trouble too, of the kind `kind`. */
export interface HealthProbe {
  readonly kind: string;
  look(): Promise<readonly Trouble[]>;
}

/**
 * - `timeoutMs` how long a probe may look before that is trouble by itself. @default 2 seconds
 * - `freshMs`   how long an answer is good: whoever asks in a loop costs no more than that. @default 1 second
 */
export interface HealthOptions {
  readonly clock: Pick<Clock, 'monotonicMs' | 'setTimer'>;
  readonly probes: readonly HealthProbe[];
  readonly timeoutMs?: number;
  readonly freshMs?: number;
}

/** What is wrong with a system now, as far as its probes see. */
export class Health {
  readonly #options: HealthOptions;
  #last: { readonly atMs: number; readonly troubles: Promise<readonly Trouble[]> } | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  troubles(): Promise<readonly Trouble[]> {
    const { clock, freshMs = 1_000 } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.#last === undefined || nowMs - this.#last.atMs >= freshMs)
      this.#last = { atMs: nowMs, troubles: this.#lookAll() };
    return this.#last.troubles;
  }

  async #lookAll(): Promise<readonly Trouble[]> {
    const found = await Promise.all(this.#options.probes.map((probe) => this.#look(probe)));
    return found.flat();
  }

  async #look(probe: HealthProbe): Promise<readonly Trouble[]> {
    const { clock, timeoutMs = 2_000 } = this.#options;
    const late = Promise.withResolvers<readonly Trouble[]>();
    const cancel = clock.setTimer(timeoutMs, () =>
      late.resolve([{ kind: probe.kind, what: `it did not answer within ${timeoutMs} ms` }]),
    );
    try {
      return await Promise.race([probe.look(), late.promise]);
    } catch (error) {
      return [{ kind: kindOf(error) ?? probe.kind, what: sentenceOf(error), cause: error }];
    } finally {
      cancel();
    }
  }
}

const kindOf = (error: unknown): string | undefined => {
  if (!isOrreryError(error)) return undefined;
  if (error.code === 'CONTROL_LOST') return 'control-lost';
  return error.code === 'SYSTEM_STOPPED' ? 'stopped' : undefined;
};

const sentenceOf = (error: unknown): string =>
  isOrreryError(error) ? `it failed with ${error.code}` : 'it failed';
