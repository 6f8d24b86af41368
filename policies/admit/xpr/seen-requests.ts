/** Remembers requests for as long as they could come again, so that each is let in once. */
export class SeenRequests {
  readonly #capacity: number;
  /** Until when each could come again, Unix milliseconds. */
  readonly #untilMs = new Map<string, number>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#untilMs.size;
  }

  /** `new`, and from now on it is `seen`; `full`: it cannot be told, because too many are remembered. */
  note(request: string, untilMs: number, nowMs: number): 'new' | 'seen' | 'full' {
    if ((this.#untilMs.get(request) ?? Number.NEGATIVE_INFINITY) >= nowMs) return 'seen';
    if (this.#untilMs.size >= this.#capacity) this.#forgetOver(nowMs);
    if (this.#untilMs.size >= this.#capacity) return 'full';
    this.#untilMs.set(request, untilMs);
    return 'new';
  }

  #forgetOver(nowMs: number): void {
    for (const [request, untilMs] of this.#untilMs) if (untilMs < nowMs) this.#untilMs.delete(request);
  }
}
