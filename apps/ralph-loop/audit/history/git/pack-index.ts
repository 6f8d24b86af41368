import { FileWindow } from './file-window.ts';

const MAGIC = 0xff744f63;
const FAN_OUT = 8;
const NAMES = FAN_OUT + 256 * 4;
const NAME_BYTES = 20;
/** A bucket of more names belongs to a pack of hundreds of millions of objects, or to none. */
const MAX_BUCKET = 1_000_000;

/** Where the objects of a pack are, by their names. */
export class PackIndex implements Disposable {
  readonly #file: FileWindow;
  readonly #fanOut: Buffer;

  /** Throws what the system throws, and for what is no index of version 2. */
  constructor(path: string) {
    this.#file = new FileWindow(path);
    const head = this.#file.read(0, NAMES);
    if (head.length < NAMES || head.readUInt32BE(0) !== MAGIC || head.readUInt32BE(4) !== 2) {
      this[Symbol.dispose]();
      throw new Error('is no index of version 2');
    }
    this.#fanOut = head.subarray(FAN_OUT);
  }

  /** The offset of the object in its pack; undefined if it is not there. */
  offsetOf(name: Buffer): number | undefined {
    const bucket = name[0];
    if (bucket === undefined || name.length !== NAME_BYTES) return undefined;
    const from = bucket === 0 ? 0 : this.#count(bucket - 1);
    const to = this.#count(bucket);
    if (to <= from || to - from > MAX_BUCKET) return undefined;
    const names = this.#file.read(NAMES + from * NAME_BYTES, (to - from) * NAME_BYTES);
    const found = search(names, name);
    return found === undefined ? undefined : this.#offsetAt(from + found);
  }

  /** After the names come their checksums, then offsets, then those offsets that need eight bytes. */
  #offsetAt(position: number): number | undefined {
    const total = this.#count(255);
    const offsets = NAMES + total * (NAME_BYTES + 4);
    const short = this.#file.read(offsets + position * 4, 4);
    if (short.length < 4) return undefined;
    const offset = short.readUInt32BE(0);
    if (offset < 0x80000000) return offset;
    const long = this.#file.read(offsets + total * 4 + (offset - 0x80000000) * 8, 8);
    return long.length < 8 ? undefined : Number(long.readBigUInt64BE(0));
  }

  #count(bucket: number): number {
    return this.#fanOut.readUInt32BE(bucket * 4);
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }
}

/** The names are in order. */
function search(names: Buffer, name: Buffer): number | undefined {
  let low = 0;
  let high = Math.floor(names.length / NAME_BYTES) - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const start = middle * NAME_BYTES;
    const order = name.compare(names, start, start + NAME_BYTES);
    if (order === 0) return middle;
    if (order < 0) high = middle - 1;
    else low = middle + 1;
  }
  return undefined;
}
