import type { Note } from '@orrery/ralph-loop';

/** Notes of one kind that are listed. One more note counts the others. */
const MAX_A_KIND = 10;

/** Collects notes, each once, in bounded memory. */
export class NoteBook {
  readonly #kinds = new Map<string, { listed: Map<string, Note>; count: number }>();

  add({ kind, file, reason }: { kind: string; file?: string | undefined; reason: string }): void {
    const notes = this.#kinds.get(kind) ?? { listed: new Map<string, Note>(), count: 0 };
    this.#kinds.set(kind, notes);
    const key = `${file ?? ''}\0${reason}`;
    if (notes.listed.has(key)) return;
    notes.count += 1;
    if (notes.listed.size >= MAX_A_KIND) return;
    notes.listed.set(key, file === undefined ? { kind, reason } : { kind, file, reason });
  }

  all(): Note[] {
    return [...this.#kinds].flatMap(([kind, { listed, count }]) => {
      const more = count - listed.size;
      return [...listed.values(), ...(more === 0 ? [] : [{ kind, reason: `${more} more like these` }])];
    });
  }
}
