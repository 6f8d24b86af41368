import type { Result } from './json-shapes.ts';
import { createHash } from 'node:crypto';
import { jsonOf } from '../../../runtime/protocol/json.ts';
import { invalidParams } from './mcp-errors.ts';

/** Characters of the checksum in a cursor: enough to detect one that is changed or made up. */
const SUM_LENGTH = 12;

/**
 * Writes a cursor: the key of the last item on a page, with a checksum over `field` and key. It is the same in every process
 * that serves the list.
 */
function cursorAfter(field: string, key: string): string {
  const text = Buffer.from(JSON.stringify(key)).toString('base64url');
  const sum = createHash('sha256').update(`${field}\n${text}`).digest('base64url');
  return `${sum.slice(0, SUM_LENGTH)}${text}`;
}

/** Reads the key in a cursor; its item may be gone. Throws if the cursor is not of this list. */
function keyIn(field: string, cursor: unknown): string {
  const key = typeof cursor === 'string' ? textIn(cursor.slice(SUM_LENGTH)) : undefined;
  if (key !== undefined && cursorAfter(field, key) === cursor) return key;
  throw invalidParams('cursor: is none of this list; begin again without one', { cursor });
}

function textIn(encoded: string): string | undefined {
  const key = jsonOf(Buffer.from(encoded, 'base64url').toString('utf8'));
  return typeof key === 'string' ? key : undefined;
}

/** An item of a list, as clients get it. `key` is its own, and stays when the rest changes. */
export interface ListItem {
  readonly key: string;
  readonly shown: unknown;
}

interface Page {
  readonly result: Result;
  text?: string;
}

/**
 * A list in pages, sorted by key. A cursor names the last item shown, so a reader gets each item that stays exactly once
 * while others come and go.
 */
export class PagedList {
  readonly #field: string;
  readonly #items: readonly ListItem[];
  readonly #pageSize: number;
  /**
   * Pages as a reader from the start gets them, by the index of their first item. Each is made, and written as JSON, once.
   */
  readonly #pages = new Map<number, Page>();

  /** `field`: the property of a result that holds the items. */
  constructor(field: string, items: readonly ListItem[], pageSize: number) {
    this.#field = field;
    this.#items = [...items].sort(byKey);
    this.#pageSize = pageSize;
  }

  /** The page after a cursor, or the first one. Throws INVALID_PARAMS for a cursor that is not of this list. */
  page(cursor: unknown): Result {
    return this.#page(cursor).result;
  }

  /** The page as JSON, with the fields of `more`, which must be the same in every call. */
  text(cursor: unknown, more: Readonly<Result>): string {
    const page = this.#page(cursor);
    page.text ??= JSON.stringify({ ...page.result, ...more });
    return page.text;
  }

  #page(cursor: unknown): Page {
    const from = cursor === undefined ? 0 : this.#placeAfter(keyIn(this.#field, cursor));
    const known = this.#pages.get(from);
    if (known !== undefined) return known;
    const page = { result: this.#resultFrom(from) };
    if (from % this.#pageSize === 0) this.#pages.set(from, page);
    return page;
  }

  #resultFrom(from: number): Result {
    const to = from + this.#pageSize;
    const last = to < this.#items.length ? this.#items[to - 1] : undefined;
    return {
      [this.#field]: this.#items.slice(from, to).map(({ shown }) => shown),
      ...(last === undefined ? {} : { nextCursor: cursorAfter(this.#field, last.key) }),
    };
  }

  /** The index of the first item after a key. */
  #placeAfter(key: string): number {
    let [low, high] = [0, this.#items.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#items[middle] as ListItem).key <= key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const byKey = (one: ListItem, other: ListItem): number =>
  one.key < other.key ? -1 : one.key > other.key ? 1 : 0;
