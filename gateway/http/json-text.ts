import { isDeeperThan } from '../../runtime/protocol/json.ts';
import { OrreryError } from '../../runtime/protocol/errors.ts';

/** `maxKeys` of all objects of a body together, `maxElements` of all its arrays. */
export interface MemberLimits {
  readonly maxKeys: number;
  readonly maxElements: number;
}

/** The limits by default. */
export const MEMBER_LIMITS: MemberLimits = { maxKeys: 20_000, maxElements: 200_000 };

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [BEGIN_ARRAY, END_ARRAY, BEGIN_OBJECT, END_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The deepest nesting that is tracked. Members below it count as elements. */
const DEEPEST = 1_024;

/**
 * Counts the keys and elements of JSON while its bytes come, before anything is made of them: a small body can have members
 * enough to hold a thread for long. What is no JSON is counted somehow; whoever parses it says that it is none.
 *
 * An empty array counts as one element. So bytes have no more members than there are bytes, and a body that is shorter than
 * the limits is not looked at.
 */
export class MemberCounter {
  readonly #limits: MemberLimits;
  readonly #fewBytes: number;
  #bytes = 0;
  /** Bytes that are not scanned yet: a short body never is. */
  #unscanned: Uint8Array[] = [];
  /** For each open level, whether it is an object. */
  #isObject: Uint8Array | undefined;
  #depth = 0;
  #keys = 0;
  #elements = 0;
  #isInText = false;
  #isEscaped = false;

  constructor(limits: MemberLimits) {
    this.#limits = limits;
    this.#fewBytes = Math.min(limits.maxKeys, limits.maxElements);
  }

  get keys(): number {
    this.#scanAll();
    return this.#keys;
  }

  get elements(): number {
    this.#scanAll();
    return this.#elements;
  }

  /** The next bytes. Throws BODY_TOO_LARGE naming what there is too much of. */
  take(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    this.#unscanned.push(bytes);
    if (this.#bytes <= this.#fewBytes) return;
    this.#scanAll();
    requireFew(this.#keys, this.#elements, this.#limits);
  }

  #scanAll(): void {
    for (const bytes of this.#unscanned) this.#scan(bytes);
    this.#unscanned = [];
  }

  #scan(bytes: Uint8Array): void {
    let isInText = this.#isInText;
    let isEscaped = this.#isEscaped;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at];
      if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInText = false;
      } else if (byte === QUOTE) isInText = true;
      else if (byte === COLON) this.#keys += 1;
      else if (byte === COMMA) this.#elements += this.#isInObject() ? 0 : 1;
      else if (byte === BEGIN_ARRAY || byte === BEGIN_OBJECT) this.#open(byte === BEGIN_OBJECT);
      else if (byte === END_ARRAY || byte === END_OBJECT) this.#depth -= this.#depth > 0 ? 1 : 0;
    }
    this.#isInText = isInText;
    this.#isEscaped = isEscaped;
  }

  #open(isObject: boolean): void {
    if (!isObject) this.#elements += 1;
    this.#isObject ??= new Uint8Array(DEEPEST);
    if (this.#depth < DEEPEST) this.#isObject[this.#depth] = isObject ? 1 : 0;
    this.#depth += 1;
  }

  #isInObject(): boolean {
    return this.#depth > 0 && this.#depth <= DEEPEST && this.#isObject?.[this.#depth - 1] === 1;
  }
}

/** Counts as `MemberCounter` does in what has been read, which is not nested too deeply. Throws as it does. */
export function requireFewMembers(value: unknown, limits: MemberLimits): void {
  let [keys, elements] = [0, 0];
  const left: unknown[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next !== 'object' || next === null) continue;
    const within = Array.isArray(next) ? next : Object.values(next);
    if (Array.isArray(next)) elements += Math.max(1, within.length);
    else keys += within.length;
    requireFew(keys, elements, limits);
    for (const one of within) left.push(one);
  }
}

function requireFew(keys: number, elements: number, { maxKeys, maxElements }: MemberLimits): void {
  if (keys > maxKeys) throw tooMany('object keys', maxKeys);
  if (elements > maxElements) throw tooMany('array elements', maxElements);
}

export const tooMany = (what: string, most: number): OrreryError =>
  new OrreryError('BODY_TOO_LARGE', `The body of the request has more than ${most} ${what}`, {
    details: { what, most },
  });

/** The result of parsing bytes as JSON. `too-deep`: nested too deeply to be read safely. */
export type JsonRead =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'no-json' }
  | { readonly kind: 'too-deep' };

const UTF8 = new TextDecoder('utf-8', { fatal: true });

export function readJson(bytes: Uint8Array): JsonRead {
  let value: unknown;
  try {
    value = JSON.parse(UTF8.decode(bytes));
  } catch {
    return { kind: 'no-json' };
  }
  return isDeeperThan(value) ? { kind: 'too-deep' } : { kind: 'value', value };
}

/** An object as JSON has them: neither null nor a list. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
