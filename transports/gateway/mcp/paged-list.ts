import { invalidParams } from './mcp-errors.ts';
import type { Result } from './json-shapes.ts';

const CURSOR = /^p(\d{1,9})$/;

/** A list in pages, each of which is made, and written as JSON, once. */
export class PagedList {
  readonly #field: string;
  readonly #items: readonly unknown[];
  readonly #pageSize: number;
  readonly #pages = new Map<number, { readonly result: Result; text?: string }>();

  /** `field`: of a page, that holds its items. */
  constructor(field: string, items: readonly unknown[], pageSize: number) {
    this.#field = field;
    this.#items = items;
    this.#pageSize = pageSize;
  }

  /** The page at a cursor; the first one without. Throws for a cursor that was never given out. */
  page(cursor: unknown): Result {
    return this.#page(cursor).result;
  }

  /** The same with `more` among its fields, as JSON. All who read it give the same. */
  text(cursor: unknown, more: Readonly<Result>): string {
    const page = this.#page(cursor);
    page.text ??= JSON.stringify({ ...page.result, ...more });
    return page.text;
  }

  #page(cursor: unknown): { readonly result: Result; text?: string } {
    const from = this.#offset(cursor);
    const known = this.#pages.get(from);
    if (known !== undefined) return known;
    const to = from + this.#pageSize;
    const page = {
      result: {
        [this.#field]: this.#items.slice(from, to),
        ...(to < this.#items.length ? { nextCursor: `p${to}` } : {}),
      },
    };
    this.#pages.set(from, page);
    return page;
  }

  #offset(cursor: unknown): number {
    if (cursor === undefined) return 0;
    const from = Number(CURSOR.exec(String(cursor))?.[1] ?? Number.NaN);
    if (Number.isInteger(from) && from % this.#pageSize === 0 && (from === 0 || from < this.#items.length))
      return from;
    throw invalidParams('cursor: is none of this list; begin again without one', { cursor });
  }
}
