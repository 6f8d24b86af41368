import { inflateSync } from 'node:zlib';

export type GitObjectType = 'commit' | 'tree' | 'blob' | 'tag';

export interface GitObject {
  readonly type: GitObjectType;
  readonly data: Buffer;
}

/** What is longer is no commit and no folder that a team made; a small file may unpack to gigabytes. */
export const MAX_OBJECT_BYTES = 8 * 1024 * 1024;

/** Unpacks what begins `packed`, or undefined if it is damaged or longer than `maxBytes`. */
export function inflated(packed: Buffer, maxBytes = MAX_OBJECT_BYTES): Buffer | undefined {
  try {
    return inflateSync(packed, { maxOutputLength: maxBytes });
  } catch {
    return undefined;
  }
}

/** An object as it lies in a file of its own: `tree 123\0…`. */
export function looseObject(packed: Buffer): GitObject | undefined {
  const whole = inflated(packed);
  const end = whole?.indexOf(0) ?? -1;
  if (whole === undefined || end === -1) return undefined;
  const type = whole.toString('latin1', 0, end).split(' ')[0];
  return isType(type) ? { type, data: whole.subarray(end + 1) } : undefined;
}

const isType = (word: string | undefined): word is GitObjectType =>
  word === 'commit' || word === 'tree' || word === 'blob' || word === 'tag';
