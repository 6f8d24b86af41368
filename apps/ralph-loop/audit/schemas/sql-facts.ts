import type { Candidate, SqlSchema } from './sql-schema.ts';

/** What all files of SQL together say about the tables that one of them leaves without a key or an index. */
export class SqlFacts {
  readonly #keyed = new Set<string>();
  readonly #indexed = new Set<string>();
  readonly #gone = new Set<string>();
  readonly #renamed = new Map<string, string>();
  readonly #programmed = new Set<string>();

  add(schema: SqlSchema): void {
    for (const table of schema.keyed) this.#keyed.add(table);
    for (const column of schema.indexed) this.#indexed.add(column);
    for (const table of schema.gone) this.#gone.add(table);
    for (const [from, to] of schema.renamed) this.#renamed.set(from, to);
    for (const word of schema.programmed) this.#programmed.add(word);
  }

  /** Whether nothing makes up for what the candidate lacks. */
  confirms({ table, columns }: Candidate): boolean {
    const names = [table, this.#renamed.get(table) ?? table];
    return !names.some(
      (name) =>
        this.#gone.has(name) ||
        this.#programmed.has(name) ||
        (columns === undefined ? this.#keyed.has(name) : this.#isIndexed(name, columns)),
    );
  }

  #isIndexed(table: string, columns: readonly string[]): boolean {
    return [...columns, '*'].some((column) => this.#indexed.has(`${table} ${column}`));
  }
}
