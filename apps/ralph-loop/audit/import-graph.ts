import type { ImportKind } from './imports/read-imports.ts';

/** One file importing another of the repository; `offset` is where the specifier stands in `from`. */
export interface ImportEdge {
  readonly from: number;
  readonly to: number;
  readonly offset: number;
  readonly kind: ImportKind;
}

const RANK: Readonly<Record<ImportKind, number>> = { static: 0, lazy: 1, type: 2 };

/** Which file imports which. Files are numbers, so that a graph of 50,000 stays small. */
export class ImportGraph {
  readonly files: string[] = [];
  readonly #ids = new Map<string, number>();
  /** For each file, the edge to each file it imports. */
  readonly #outgoing: Map<number, ImportEdge>[] = [];

  idOf(file: string): number {
    const known = this.#ids.get(file);
    if (known !== undefined) return known;
    const id = this.files.push(file) - 1;
    this.#ids.set(file, id);
    this.#outgoing.push(new Map());
    return id;
  }

  /** Of several imports of the same file the one that surely loads it counts. */
  add(from: string, to: string, { offset, kind }: Pick<ImportEdge, 'offset' | 'kind'>): void {
    const edge = { from: this.idOf(from), to: this.idOf(to), offset, kind };
    const outgoing = this.#outgoing[edge.from] as Map<number, ImportEdge>;
    const known = outgoing.get(edge.to);
    if (known === undefined || RANK[kind] < RANK[known.kind]) outgoing.set(edge.to, edge);
  }

  remove({ from, to }: ImportEdge): void {
    this.#outgoing[from]?.delete(to);
  }

  outgoing(id: number): Iterable<ImportEdge> {
    return this.#outgoing[id]?.values() ?? [];
  }

  nameOf(id: number): string {
    return this.files[id] as string;
  }
}
