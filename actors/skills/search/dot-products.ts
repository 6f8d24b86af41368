/** How many numbers a vector has that is compared with all others. */
export const SHORT_DIMENSIONS = 256;

/** `dot-products.wat`, assembled. */
const MODULE =
  'AGFzbQEAAAABCAFgBH9/f38AAwIBAAUGAQEBgIAEBxgCBm1lbW9yeQIAC2RvdFByb2R1Y3RzAAAKswEBsAECAn8CeyABIAJBCHRqIQQCQANAIAEgBE8NAf0M' +
  'AAAAAAAAAAAAAAAAAAAAACEGQQAhBQNAIAEgBWr9AAQAIQcgBiAH/YcBIAAgBUEBdGr9AAQA/boBIAf9iAEgACAFQQF0av0ABBD9ugH9rgH9rgEhBiAFQRBq' +
  'IgVBgAJJDQALIAMgBv0bACAG/RsBaiAG/RsCIAb9GwNqarI4AgAgA0EEaiEDIAFBgAJqIQEMAAsLCw==';

const PAGE_BYTES = 64 * 1024;
const QUERY_BYTES = SHORT_DIMENSIONS * 2;
const RESULT_BYTES = 4;
const FIRST_ROOM = 128;

/** What is used of `WebAssembly`, of which Node's types have only a part. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { readonly exports: unknown };
};

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  dotProducts(query: number, vectors: number, count: number, results: number): void;
}

let compiled: object | undefined;

/**
 * Many short vectors of signed bytes, side by side, and the dot product of a query with each. It compares 100,000 of them in about a
 * millisecond, which JavaScript alone takes ten times as long for.
 */
export class DotProducts {
  readonly #exports: Exports;
  #room = FIRST_ROOM;
  #vectors: Int8Array;

  constructor() {
    compiled ??= new WebAssembly.Module(Buffer.from(MODULE, 'base64'));
    this.#exports = new WebAssembly.Instance(compiled).exports as Exports;
    this.#vectors = this.#grow();
  }

  /** Writes the vector at a place. */
  set(place: number, vector: Int8Array): void {
    while (place >= this.#room) {
      const filled = this.#vectors.length;
      this.#room *= 2;
      this.#vectors = this.#grow();
      // Results were there.
      this.#vectors.fill(0, filled);
    }
    this.#vectors.set(vector, place * SHORT_DIMENSIONS);
  }

  /** The dot product with the vector at each of the first `count` places, 0 where none is. It is overwritten by the next query. */
  with(query: Int8Array, count: number): Float32Array {
    const { memory, dotProducts } = this.#exports;
    new Int16Array(memory.buffer, 0, SHORT_DIMENSIONS).set(query);
    const results = QUERY_BYTES + this.#room * SHORT_DIMENSIONS;
    dotProducts(0, QUERY_BYTES, count, results);
    return new Float32Array(memory.buffer, results, count);
  }

  #grow(): Int8Array {
    const { memory } = this.#exports;
    const vectorBytes = this.#room * SHORT_DIMENSIONS;
    const wanted = Math.ceil((QUERY_BYTES + vectorBytes + this.#room * RESULT_BYTES) / PAGE_BYTES);
    const pages = memory.buffer.byteLength / PAGE_BYTES;
    if (wanted > pages) memory.grow(wanted - pages);
    return new Int8Array(memory.buffer, QUERY_BYTES, vectorBytes);
  }
}
