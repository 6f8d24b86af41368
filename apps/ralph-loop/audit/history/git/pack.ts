import { FileWindow } from './file-window.ts';
import { applyDelta } from './delta.ts';
import { type GitObject, type GitObjectType, inflated, MAX_OBJECT_BYTES } from './object.ts';
import { PackIndex } from './pack-index.ts';

const TYPES: Readonly<Record<number, GitObjectType>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };
const OFFSET_DELTA = 6;
const NAMED_DELTA = 7;
/** git itself makes chains of 50, at most 4,095. */
const MAX_CHAIN = 4_096;
/** The longest head of an entry: a size, and the name of a base. */
const HEAD_BYTES = 40;

/** A pack and its index (gitformat-pack, version 2), of which only what is asked for is read. */
export class Pack implements Disposable {
  readonly #pack: FileWindow;
  readonly #index: PackIndex;

  /** `path` is without its ending. Throws what the system throws, and for what is no pack of version 2. */
  constructor(path: string) {
    this.#index = new PackIndex(`${path}.idx`);
    this.#pack = new FileWindow(`${path}.pack`);
  }

  /** The object named by 20 bytes; undefined if it is not in this pack, is damaged or too long. */
  find(name: Buffer): GitObject | undefined {
    const offset = this.#index.offsetOf(name);
    return offset === undefined ? undefined : this.#at(offset);
  }

  /** Follows a chain of deltas down to what it begins with, then applies them upwards. */
  #at(first: number): GitObject | undefined {
    const deltas: Buffer[] = [];
    let offset = first;
    while (deltas.length <= MAX_CHAIN) {
      const entry = this.#entry(offset);
      if (entry === undefined) return undefined;
      if ('type' in entry) return applied(entry, deltas);
      deltas.push(entry.delta);
      offset = entry.base;
    }
    return undefined;
  }

  #entry(offset: number): GitObject | { readonly delta: Buffer; readonly base: number } | undefined {
    const head = this.#pack.read(offset, HEAD_BYTES);
    const { kind, size, length } = entryHead(head);
    if (size > MAX_OBJECT_BYTES || length >= head.length) return undefined;
    const type = TYPES[kind];
    if (type !== undefined) {
      const data = this.#unpacked(offset + length, size);
      return data && { type, data };
    }
    const base = kind === OFFSET_DELTA ? offsetBase(head, length) : this.#namedBase(head, length, kind);
    const delta = base && this.#unpacked(offset + base.length, size);
    const from = base && (kind === OFFSET_DELTA ? offset - base.value : base.value);
    return delta && from !== undefined && from > 0 ? { delta, base: from } : undefined;
  }

  #namedBase(head: Buffer, length: number, kind: number): { value: number; length: number } | undefined {
    const value = kind === NAMED_DELTA ? this.#index.offsetOf(head.subarray(length, length + 20)) : undefined;
    return value === undefined ? undefined : { value, length: length + 20 };
  }

  /** What is packed is at most so much longer than what it is made of. */
  #unpacked(offset: number, size: number): Buffer | undefined {
    const data = inflated(this.#pack.read(offset, size + (size >> 8) + 64), Math.max(size, 1));
    return data?.length === size ? data : undefined;
  }

  [Symbol.dispose](): void {
    this.#index[Symbol.dispose]();
    this.#pack[Symbol.dispose]();
  }
}

function applied({ type, data }: GitObject, deltas: readonly Buffer[]): GitObject | undefined {
  let result: Buffer | undefined = data;
  for (const delta of deltas.toReversed()) {
    if (result === undefined) return undefined;
    result = applyDelta(result, delta);
  }
  return result && { type, data: result };
}

/** Three bits of kind, then a size of four and then seven bits a byte, the lowest first. */
function entryHead(head: Buffer): { kind: number; size: number; length: number } {
  const first = head[0] ?? 0;
  let size = first & 15;
  let length = 1;
  for (let byte = first, factor = 16; byte & 0x80 && length < head.length; factor *= 128, length += 1) {
    byte = head[length] ?? 0;
    size += (byte & 0x7f) * factor;
  }
  return { kind: (first >> 4) & 7, size, length };
}

/** How far before its delta a base begins: seven bits a byte, the highest first, each continuation one more. */
function offsetBase(head: Buffer, start: number): { value: number; length: number } {
  let length = start;
  let byte = head[length++] ?? 0;
  let value = byte & 0x7f;
  while (byte & 0x80 && length < head.length) {
    byte = head[length++] ?? 0;
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, length };
}
