import { BinaryReader } from '@bufbuild/protobuf/wire';
import { type MemberLimits, tooMany } from '../../../http/member-counter.ts';

/** So many numbers stand in the bytes of one key with its value, of one element of a list, and of all the rest. */
const OF_KEY = 8;
const OF_ELEMENT = 4;
const OF_REST = 10_000;

/**
 * Reads a message of the proto as far as it has no more fields than one with as many members as there may be: a small one can
 * have fields enough to hold the thread for long, and they are counted before anything is made of them.
 */
export class BoundedReader extends BinaryReader {
  constructor(bytes: Uint8Array, { maxKeys, maxElements }: MemberLimits) {
    super(bytes);
    const read = this.uint32;
    let left = OF_KEY * maxKeys + OF_ELEMENT * maxElements + OF_REST;
    this.uint32 = () => {
      left -= 1;
      if (left < 0) throw tooMany('keys and elements', maxKeys + maxElements);
      return read.call(this);
    };
  }
}
