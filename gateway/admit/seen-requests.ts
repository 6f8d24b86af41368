import type { RequestMemory, RequestTimes } from '../../runtime/protocol/admission.ts';
import { OrreryError } from '../../runtime/protocol/errors.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';

/** Beside what the embedder keeps of its own. */
const KIND = 'orrery/request';
const SWEEP_MS = 1_000;
/** So long a request waits to be kept. */
const KEEP_MS = 5_000;
const RETRY_MS = 1_000;

/** Where requests are kept beyond the process: the records of a system with a journal. */
export interface JournalledRequests {
  readonly records: {
    put(kind: string, key: string, value: unknown, options?: { readonly toTheLast?: boolean }): Promise<void>;
    read(kind: string): AsyncIterable<{ readonly key: string; readonly value: unknown }>;
  };
  readonly clock: Pick<Clock, 'now' | 'setTimer'>;
}

/** Remembers requests for as long as they could come again, so that each is let in once; kept, also after a restart. */
export class SeenRequests implements RequestMemory {
  /** Until when each could come again, Unix milliseconds. */
  readonly #untilMs = new Map<string, number>();
  readonly #kept: JournalledRequests | undefined;
  #sweptAtMs = Number.NEGATIVE_INFINITY;
  /** How many took too long to be kept, and still are not. */
  #late = 0;

  constructor(kept?: JournalledRequests) {
    this.#kept = kept;
  }

  /** With what former processes have let in. Fails with what the journal fails with. */
  static async open(kept: JournalledRequests): Promise<SeenRequests> {
    const seen = new SeenRequests(kept);
    for await (const { key, value } of kept.records.read(KIND)) seen.#untilMs.set(key, Number(value));
    seen.#forgetOver(kept.clock.now());
    return seen;
  }

  async note(request: string, { untilMs, nowMs, most }: RequestTimes): Promise<'new' | 'seen' | 'full'> {
    if ((this.#untilMs.get(request) ?? Number.NEGATIVE_INFINITY) >= nowMs) return 'seen';
    // What cannot be kept is not forgotten either: that would only wait with the rest.
    if (this.#late > 0) throw notKept();
    if (Math.abs(nowMs - this.#sweptAtMs) >= SWEEP_MS) this.#forgetOver(nowMs);
    if (this.#untilMs.size >= most) return 'full';
    // Before anything is waited for: of two at once one is new.
    this.#untilMs.set(request, untilMs);
    if (this.#kept === undefined) return 'new';
    try {
      await this.#keep(request, untilMs, this.#kept);
      return 'new';
    } catch (error) {
      // It is not let in, so that it may come again.
      this.#untilMs.delete(request);
      throw error;
    }
  }

  /** Resolves when it survives the loss of power; rejects with STORE_FAILED when that takes too long. */
  #keep(request: string, untilMs: number, { records, clock }: JournalledRequests): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let isLate = false;
    const cancel = clock.setTimer(KEEP_MS, () => {
      isLate = true;
      this.#late += 1;
      reject(notKept());
    });
    const settled = (): void => {
      cancel();
      if (isLate) this.#late -= 1;
    };
    // Also while the system stops: what is let in then is not let in by the next process.
    records.put(KIND, request, untilMs, { toTheLast: true }).then(
      () => {
        settled();
        if (isLate && !this.#untilMs.has(request)) this.#drop(request);
        resolve();
      },
      (error: unknown) => {
        settled();
        reject(error);
      },
    );
    return promise;
  }

  #forgetOver(nowMs: number): void {
    this.#sweptAtMs = nowMs;
    for (const [request, untilMs] of this.#untilMs) {
      if (untilMs >= nowMs) continue;
      this.#untilMs.delete(request);
      this.#drop(request);
    }
  }

  /** What is left because this fails is found, and dropped, at the next start. */
  #drop(request: string): void {
    this.#kept?.records.put(KIND, request, undefined).catch(() => undefined);
  }
}

/** One for all who serve a system. */
const ofSystems = new WeakMap<object, Promise<SeenRequests>>();

/** What remembers the requests that the gateways of a system have let in; `kept` undefined: in memory alone. */
export function seenRequestsOf(system: object, kept: JournalledRequests | undefined): Promise<SeenRequests> {
  const known = ofSystems.get(system);
  if (known !== undefined) return known;
  const opened = kept === undefined ? Promise.resolve(new SeenRequests()) : SeenRequests.open(kept);
  ofSystems.set(system, opened);
  // Whoever serves the system next tries again.
  opened.catch(() => ofSystems.delete(system));
  return opened;
}

/** `fault`: how it is told outside, whatever the journal says of itself. */
const notKept = (): OrreryError =>
  new OrreryError('STORE_FAILED', 'That the request was let in cannot be kept at present', {
    details: { fault: 'UNAVAILABLE', retryAfterMs: RETRY_MS },
  });
