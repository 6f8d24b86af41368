import { closeSync, openSync, readSync, statSync } from 'node:fs';

/** The write-ahead log of SQLite (https://www.sqlite.org/fileformat2.html#walformat). */
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC = 0x377f_0682;

/** A page as a commit of the log has it; `at` is where its bytes are in the file. */
export interface LoggedPage {
  readonly page: number;
  readonly at: number;
}

/**
 * What there is of a log.
 *
 * - `missing`   there is no such file, or nothing in it: as after a journal was closed.
 * - `unread`    its first bytes are not those of a log.
 * - otherwise the pages of its whole commits, in order, up to `wholeBytes`; `isFollowed` says whether what comes behind that
 *   is of the same run of the log: then it was damaged, or was being written.
 */
export type LogScan =
  | { readonly kind: 'missing' | 'unread' }
  | {
      readonly kind: 'read';
      readonly pageBytes: number;
      readonly pages: readonly LoggedPage[];
      /** The file's length in pages after its last commit. */
      readonly databasePages: number;
      readonly wholeBytes: number;
      readonly isFollowed: boolean;
    };

interface Run {
  readonly pageBytes: number;
  readonly isBigEndian: boolean;
  readonly salt: bigint;
}

/** Reads a log as SQLite would, and changes nothing. Fails as `fs` does. */
export function scanLog(file: string): LogScan {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return { kind: 'missing' };
  const descriptor = openSync(file, 'r');
  try {
    return scan(descriptor, size);
  } finally {
    closeSync(descriptor);
  }
}

function scan(descriptor: number, size: number): LogScan {
  const header = Buffer.alloc(HEADER_BYTES);
  if (readSync(descriptor, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return { kind: 'unread' };
  const run = runOf(header);
  if (run === undefined) return { kind: 'unread' };
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + run.pageBytes);
  let sums = sumsOf(header.subarray(0, 24), [0, 0], run.isBigEndian);
  const pages: LoggedPage[] = [];
  let open: LoggedPage[] = [];
  let databasePages = 0;
  let wholeBytes = HEADER_BYTES;
  let isFollowed = false;
  for (let at = HEADER_BYTES; at + frame.length <= size; at += frame.length) {
    readSync(descriptor, frame, 0, frame.length, at);
    const isOfRun = frame.readBigUInt64BE(8) === run.salt;
    sums = sumsOf(
      frame.subarray(FRAME_HEADER_BYTES),
      sumsOf(frame.subarray(0, 8), sums, run.isBigEndian),
      run.isBigEndian,
    );
    isFollowed = isOfRun;
    if (!(isOfRun && frame.readUInt32BE(16) === sums[0] && frame.readUInt32BE(20) === sums[1])) break;
    open.push({ page: frame.readUInt32BE(0), at: at + FRAME_HEADER_BYTES });
    if (frame.readUInt32BE(4) === 0) continue;
    databasePages = frame.readUInt32BE(4);
    pages.push(...open);
    open = [];
    wholeBytes = at + frame.length;
    isFollowed = false;
  }
  return { kind: 'read', pageBytes: run.pageBytes, pages, databasePages, wholeBytes, isFollowed };
}

function runOf(header: Buffer): Run | undefined {
  const magic = header.readUInt32BE(0);
  if (magic !== MAGIC && magic !== MAGIC + 1) return undefined;
  const pageBytes = header.readUInt32BE(8);
  if (pageBytes < 512 || pageBytes > 65_536 || (pageBytes & (pageBytes - 1)) !== 0) return undefined;
  const isBigEndian = magic === MAGIC + 1;
  const [first, second] = sumsOf(header.subarray(0, 24), [0, 0], isBigEndian);
  if (header.readUInt32BE(24) !== first || header.readUInt32BE(28) !== second) return undefined;
  return { pageBytes, isBigEndian, salt: header.readBigUInt64BE(16) };
}

type Sums = readonly [number, number];

/** SQLite's checksum of a log, which goes on from that of what stands before. */
function sumsOf(bytes: Buffer, before: Sums, isBigEndian: boolean): Sums {
  let [first, second] = before;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; at += 8) {
    first = (first + view.getUint32(at, !isBigEndian) + second) >>> 0;
    second = (second + view.getUint32(at + 4, !isBigEndian) + first) >>> 0;
  }
  return [first, second];
}
