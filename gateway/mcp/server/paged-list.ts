import type { Result } from './json-shapes.ts';
import { createHash } from 'node:crypto';
import { jsonOf } from '../../../runtime/protocol/json.ts';
import { invalidParams } from './mcp-errors.ts';

/** So much of the sum goes along: enough that what was changed, or made up, is not taken for a cursor. */
const SUM_LENGTH = 12;

/**
 * Names the item that a page ends with: `field` says of which list, `key` which one. It means the same in every process that
 * serves the list, and says nothing that its reader has not been shown.
 */
function cursorAfter(field: string, key: string): string {
  const text = Buffer.from(JSON.stringify(key)).toString('base64url');
  const sum = createHash('sha256').update(`${field}\n${text}`).digest('base64url');
  return `${sum.slice(0, SUM_LENGTH)}${text}`;
}

/** The key in a cursor. Throws for one that was never given out for this list; whether its item is still there is the same. */
function keyIn(field: string, cursor: unknown): string {
  const key = typeof cursor === 'string' ? textIn(cursor.slice(SUM_LENGTH)) : undefined;
  if (key !== undefined && cursorAfter(field, key) === cursor) return key;
  throw invalidParams('cursor: is none of this list; begin again without one', { cursor });
}

function textIn(encoded: string): string | undefined {
  const key = jsonOf(Buffer.from(encoded, 'base64url').toString('utf8'));
  return typeof key === 'string' ? key : undefined;
}

/** One item of a list, as it is told. `key`: which one it is, whatever else changes about it; no other one's. */
export interface ListItem {
  readonly key: string;
  readonly shown: unknown;
}

interface Page {
  readonly result: Result;
  text?: string;
}

/**
 * A list in pages, by the keys of its items. A cursor names the last item that was shown, so that whoever reads on while
 * others come and go is told of each one that stays, once.
 */
export class PagedList {
  readonly #field: string;
  readonly #items: readonly ListItem[];
  readonly #pageSize: number;
  /** Those that whoever reads on from the first one comes by, each of which is made, and written as JSON, once. */
  readonly #pages = new Map<number, Page>();

  /** `field`: of a page, that holds its items. */
  constructor(field: string, items: readonly ListItem[], pageSize: number) {
    this.#field = field;
    this.#items = [...items].sort(byKey);
    this.#pageSize = pageSize;
  }

  /** The page after a cursor; the first one without. Throws for a cursor that is none of this list. */
  page(cursor: unknown): Result {
    return this.#page(cursor).result;
  }

  /** The same with `more` among its fields, as JSON. All who read it give the same. */
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

  /** How many come before what follows this key, which need not be there any more. */
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
