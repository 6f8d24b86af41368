import { MAX_OBJECT_BYTES } from './object.ts';

/** Applies a delta of a pack (gitformat-pack, "Deltified representation") to its base; undefined if it does not fit. */
export function applyDelta(base: Buffer, delta: Buffer): Buffer | undefined {
  const reader = new DeltaReader(delta);
  if (reader.size() !== base.length) return undefined;
  const length = reader.size();
  if (length > MAX_OBJECT_BYTES) return undefined;
  const result = Buffer.alloc(length);
  let at = 0;
  while (!reader.isAtEnd) {
    const code = reader.byte();
    if (code & 0x80) {
      const { from, count } = reader.copy(code);
      if (from + count > base.length || at + count > length) return undefined;
      base.copy(result, at, from, from + count);
      at += count;
    } else {
      const added = reader.take(code);
      if (code === 0 || added.length !== code || at + code > length) return undefined;
      added.copy(result, at);
      at += code;
    }
  }
  return at === length ? result : undefined;
}

class DeltaReader {
  readonly #delta: Buffer;
  #at = 0;

  constructor(delta: Buffer) {
    this.#delta = delta;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#delta.length;
  }

  /** Past the end it reads zeros, which fit nothing. */
  byte(): number {
    return this.#delta[this.#at++] ?? 0;
  }

  take(count: number): Buffer {
    const taken = this.#delta.subarray(this.#at, this.#at + count);
    this.#at += count;
    return taken;
  }

  /** Seven bits a byte, the lowest first. */
  size(): number {
    let value = 0;
    for (let factor = 1; !this.isAtEnd; factor *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (!(byte & 0x80)) break;
    }
    return value;
  }

  /** The bits of `code` say which bytes of the offset and of the count follow. */
  copy(code: number): { from: number; count: number } {
    let [from, count] = [0, 0];
    for (let index = 0; index < 4; index++) if (code & (1 << index)) from += this.byte() * 256 ** index;
    for (let index = 0; index < 3; index++) if (code & (16 << index)) count += this.byte() * 256 ** index;
    return { from, count: count === 0 ? 0x10000 : count };
  }
}
