import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import type { PeerOptions } from 'orrery';
import { readNamedFile } from './option-values.ts';
import { UsageError } from './usage-error.ts';

/** Whom a node lets in, as `PeerOptions` has it. */
export type TrustEntry = NonNullable<PeerOptions['trust']>[number];

/** What a trust file says. */
export interface TrustLists {
  readonly trust: readonly TrustEntry[];
  readonly revoked: readonly string[];
}

const OWN_FILE = 0o600;
const FORM = '{"trust": [{"key": "..."}], "revoked": ["..."]}';

/**
 * The file in which a node keeps whom it lets in, and which keys it lets in no more. It need not be there. It is read anew before
 * each change, so that a change by hand stays.
 */
export class TrustFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Throws UsageError for a file that cannot be read. What an entry may say is checked by whoever uses it. */
  read(): TrustLists {
    if (!existsSync(this.path)) return { trust: [], revoked: [] };
    const text = readNamedFile('--peer-trust-file', this.path);
    let lists: unknown;
    try {
      lists = JSON.parse(text);
    } catch {
      throw this.#refusal('it is no JSON');
    }
    const { trust = [], revoked = [], ...others } = (lists ?? {}) as Record<string, unknown>;
    const [other] = Object.keys(others);
    if (other !== undefined) throw this.#refusal(`it has "${other}"`);
    if (!isList(trust, isEntry)) throw this.#refusal('its "trust" is no list of entries with a "key"');
    if (!isList(revoked, isText)) throw this.#refusal('its "revoked" is no list of keys');
    return { trust, revoked };
  }

  /** Puts the entry in the place of one for the same key, or at the end. */
  trusts(entry: TrustEntry): void {
    const { trust, revoked } = this.read();
    this.#write({
      trust: [...trust.filter(({ key }) => key !== entry.key), entry],
      revoked: revoked.filter((key) => key !== entry.key),
    });
  }

  /** Takes the keys off the list of trust, and notes that they are revoked. */
  revokes(keys: readonly string[]): void {
    const { trust, revoked } = this.read();
    this.#write({
      trust: trust.filter(({ key }) => !keys.includes(key)),
      revoked: [...new Set([...revoked, ...keys])],
    });
  }

  #write(lists: TrustLists): void {
    const part = `${this.path}.${process.pid}.part`;
    rmSync(part, { force: true });
    // `wx` fails for an existing file, so that no link is followed.
    const file = openSync(part, 'wx', OWN_FILE);
    try {
      writeSync(file, `${JSON.stringify(lists, null, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(part, this.path);
  }

  #refusal(why: string): UsageError {
    return new UsageError(`Option "--peer-trust-file" is "${this.path}": ${why}, expected ${FORM}`);
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isEntry = (value: unknown): value is TrustEntry =>
  isText((value as Partial<TrustEntry> | null)?.key) && !Array.isArray(value);

function isList<T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(isItem);
}
