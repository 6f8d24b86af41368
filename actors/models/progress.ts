import type { HandlingContext } from '../../runtime/public.ts';
import type { ModelToolCall } from './model-reply.ts';

/** How often a checkpoint is made at most: each holds all the text so far. */
const KEEP_MS = 500;
const MAX_NOTE = 200;

/** Tells how far a model is, and keeps what it has said so far: `{ text, steps }`. */
export class Progress {
  readonly #ctx: HandlingContext<never>;
  readonly #maxSteps: number;
  #steps = 0;
  #text = '';
  #kept = '';
  /** Whether the next text belongs to another call. */
  #isNew = true;
  #keptAtMs = Number.NEGATIVE_INFINITY;

  constructor(ctx: HandlingContext<never>, maxSteps: number) {
    this.#ctx = ctx;
    this.#maxSteps = maxSteps;
  }

  thinks(step: number): void {
    // The last text counts until there is another.
    if (step > 1) this.#keep();
    this.#steps = step;
    this.#isNew = true;
    this.#tell(`step ${step} of at most ${this.#maxSteps}`);
  }

  says(text: string): void {
    if (this.#isNew) this.#text = '';
    this.#isNew = false;
    this.#text += text;
    const nowMs = this.#ctx.now();
    if (nowMs - this.#keptAtMs < KEEP_MS) return;
    this.#keptAtMs = nowMs;
    this.#keep();
  }

  calls(step: number, calls: readonly ModelToolCall[]): void {
    this.#tell(`step ${step}: calls ${calls.map(({ name }) => name).join(', ')}`);
  }

  corrects(fault: string): void {
    this.#tell(`the answer does not fit: ${fault}`);
  }

  ends(because: string): void {
    this.#keep();
    this.#isNew = true;
    this.#tell(`the last call: ${because}`);
  }

  #tell(note: string): void {
    const fraction = Math.min(1, Math.max(0, this.#steps - 1) / this.#maxSteps);
    this.#ctx.progress(fraction, note.slice(0, MAX_NOTE));
  }

  #keep(): void {
    if (this.#text === '' || this.#text === this.#kept) return;
    this.#kept = this.#text;
    this.#ctx.checkpoint({ text: this.#text, steps: this.#steps });
  }
}
