/** What stands in the place of a secret. */
export const HIDDEN = '[hidden]';

/** Hides secrets in a stream of bytes, also those that come in several parts. It holds back what may be the beginning of one. */
export class SecretFilter {
  /** As bytes, each a character; the longest first. */
  readonly #secrets: readonly string[];
  readonly #any: RegExp | undefined;
  #held = '';

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets
      .filter((secret) => secret !== '')
      .map((secret) => Buffer.from(secret).toString('latin1'))
      .sort((one, other) => other.length - one.length);
    this.#any =
      this.#secrets.length === 0 ? undefined : new RegExp(this.#secrets.map(escaped).join('|'), 'g');
  }

  /** What can be told by now. */
  write(part: Uint8Array): Uint8Array {
    if (this.#any === undefined) return part;
    const text = this.#held + Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('latin1');
    let told = '';
    let at = 0;
    let open = this.#openAt(text, at);
    for (const { index, 0: secret } of text.matchAll(this.#any)) {
      // A longer one may begin before it, or at it.
      if (index >= open) break;
      told += text.slice(at, index) + HIDDEN;
      at = index + secret.length;
      // What began within it is none.
      if (open < at) open = this.#openAt(text, at);
    }
    this.#held = text.slice(open);
    return Buffer.from(told + text.slice(at, open), 'latin1');
  }

  /** What was held back: nothing more comes. */
  end(): Uint8Array {
    const rest = this.#any === undefined ? this.#held : this.#held.replaceAll(this.#any, HIDDEN);
    this.#held = '';
    return Buffer.from(rest, 'latin1');
  }

  /** Where a secret begins, from `from` on, that goes on after the end; the end if there is none. */
  #openAt(text: string, from: number): number {
    const longest = this.#secrets[0]?.length ?? 0;
    for (let at = Math.max(from, text.length - longest + 1); at < text.length; at++) {
      const isOpen = this.#secrets.some(
        (secret) => secret.length > text.length - at && secret.startsWith(text.slice(at)),
      );
      if (isOpen) return at;
    }
    return text.length;
  }
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
