import { refused } from '../../../runtime/protocol/errors.ts';
import type { JsonValue } from '../../../runtime/protocol/json-value.ts';
import { redactPaths } from './redact-paths.ts';
import { isSensitive } from './sensitive-names.ts';

const MAX_DEPTH = 64;
const MAX_VALUES = 100_000;
const MAX_PATHS = 100;

/** What is left of a value, and where something was removed or replaced: paths such as `users[0].token`, 100 at most. */
export interface Sanitised {
  readonly value: JsonValue;
  readonly removed: readonly string[];
}

/**
 * A copy of a value without what must not go out: sensitive fields at any depth, in lists too, and absolute paths in texts.
 *
 * Throws REFUSED for a value with more than 64 levels or 100,000 values: it cannot be looked through.
 */
export function sanitise(value: JsonValue): Sanitised {
  const look = new Look();
  return { value: look.at(value, '', 0), removed: look.removed };
}

class Look {
  readonly removed: string[] = [];
  #values = 0;

  at(value: JsonValue, path: string, depth: number): JsonValue {
    this.#values += 1;
    if (this.#values > MAX_VALUES || depth > MAX_DEPTH)
      throw refused('The result is too deep or too large to be sanitised');
    if (typeof value === 'string') return this.#text(value, path);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item, at) => this.at(item, `${path}[${at}]`, depth + 1));
    const copy: Record<string, JsonValue> = {};
    for (const [name, field] of Object.entries(value)) {
      const shown = name.toWellFormed();
      const inner = path === '' ? shown : `${path}.${shown}`;
      // A field of this name would become the prototype of a copy.
      if (name === '__proto__' || isSensitive(name, field)) this.#note(inner);
      else if (redactPaths(shown) !== shown) this.#note(path === '' ? '(a path)' : `${path}.(a path)`);
      else copy[shown] = this.at(field, inner, depth + 1);
    }
    return copy;
  }

  #text(text: string, path: string): string {
    const clean = redactPaths(text.toWellFormed());
    if (clean !== text) this.#note(path);
    return clean;
  }

  #note(path: string): void {
    if (this.removed.length < MAX_PATHS) this.removed.push(path.slice(0, 200));
  }
}
