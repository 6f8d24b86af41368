import type { OutsiderKey } from '../mailbox/behalf.ts';
import { keyText } from '../mailbox/outsider.ts';

/** Whom outside an agent refuses, and until when, by the monotonic clock: its supervisor says so, and nobody else. */
export class Refusals {
  readonly #untilMs = new Map<string, number>();

  add(key: OutsiderKey, untilMs: number, nowMs: number): void {
    for (const [name, endMs] of this.#untilMs) if (endMs <= nowMs) this.#untilMs.delete(name);
    this.#untilMs.set(keyText(key), untilMs);
  }

  /** For how much longer; undefined when they are not refused. */
  leftMs(key: OutsiderKey, nowMs: number): number | undefined {
    const untilMs = this.#untilMs.get(keyText(key));
    return untilMs === undefined || untilMs <= nowMs ? undefined : Math.ceil(untilMs - nowMs);
  }
}
