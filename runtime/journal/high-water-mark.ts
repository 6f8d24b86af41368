import { closeSync, fdatasyncSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { type JournalMetadata, metadataChecksum } from './checksums.ts';

/** A high-water mark: the last commit of a journal that others may rely on. */
export interface Mark {
  readonly life: string;
  readonly commits: number;
  /** Of the metadata that this commit wrote. */
  readonly checksum: number;
}

const SUFFIX = '-mark';
/** The size of a slot: no two slots share a sector or page of the disk. */
const SLOT_BYTES = 4_096;
const TEXT_BYTES = 128;
const TEXT = /^orrery-mark 1 (\S+) (\d+) (\d+) (\d+) *\n$/;

export const markFileOf = (journal: string): string => `${journal}${SUFFIX}`;

export const markOf = (metadata: JournalMetadata): Mark => ({
  life: metadata.life,
  commits: metadata.commits,
  checksum: metadataChecksum(metadata),
});

/** The mark beside a journal, `undefined` where there is none, `damaged` where nothing can be read of it. */
export function readMark(journal: string): Mark | 'damaged' | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(markFileOf(journal));
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined;
    throw error;
  }
  // The second one is never ahead of the first.
  return markIn(bytes.subarray(0, TEXT_BYTES)) ?? markIn(bytes.subarray(SLOT_BYTES)) ?? 'damaged';
}

/**
 * How far a journal has come, in a file beside it: a journal that says less has lost something, whatever it was.
 *
 * A mark is written when its commit has been synced, so it never leads. `write` gives it to the kernel: it outlives the
 * process. `sync` has it outlive the loss of power, after which it may lag; so nothing is synced for each commit.
 *
 * It is written in place, twice: the second slot only when the first one has been synced. So whatever a loss of power tears,
 * one of the two is whole; and a disk that is full has room for it.
 */
export class HighWaterMark {
  readonly #descriptor: number;
  #text: Buffer = Buffer.alloc(0);
  #isSynced = true;
  /** The life of a mark that outlives the loss of power; it may be an older one of that life. */
  readonly syncedLife: string | undefined;

  private constructor(descriptor: number, syncedLife?: string) {
    this.#descriptor = descriptor;
    this.syncedLife = syncedLife;
  }

  /** Begins it anew, where nothing says that there is one. Fails as `fs` does. */
  static create(journal: string, mark: Mark): HighWaterMark {
    const descriptor = openSync(markFileOf(journal), 'w+');
    writeSync(descriptor, Buffer.alloc(2 * SLOT_BYTES), 0, 2 * SLOT_BYTES, 0);
    const made = new HighWaterMark(descriptor);
    made.write(mark);
    made.sync();
    syncFolder(dirname(journal));
    return made;
  }

  /** Goes on with the one that is there. Fails as `fs` does. */
  static open(journal: string): HighWaterMark {
    const second = markIn(readFileSync(markFileOf(journal)).subarray(SLOT_BYTES));
    return new HighWaterMark(openSync(markFileOf(journal), 'r+'), second?.life);
  }

  /** Writes the mark of a commit. Fails as `fs` does. */
  write({ life, commits, checksum }: Mark): void {
    const said = `orrery-mark 1 ${life} ${commits} ${checksum}`;
    this.#text = Buffer.from(`${`${said} ${crc32(said)}`.padEnd(TEXT_BYTES - 1)}\n`, 'latin1');
    this.#isSynced = false;
    writeSync(this.#descriptor, this.#text, 0, TEXT_BYTES, 0);
  }

  /** Fails as `fs` does. */
  sync(): void {
    if (this.#isSynced) return;
    fdatasyncSync(this.#descriptor);
    writeSync(this.#descriptor, this.#text, 0, TEXT_BYTES, SLOT_BYTES);
    fdatasyncSync(this.#descriptor);
    this.#isSynced = true;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function markIn(slot: Buffer): Mark | undefined {
  const text = slot.toString('latin1', 0, TEXT_BYTES);
  const parts = TEXT.exec(text);
  if (parts === null) return undefined;
  const [, life, commits, checksum, own] = parts as unknown as [string, string, string, string, string];
  const said = `orrery-mark 1 ${life} ${commits} ${checksum}`;
  return Number(own) === crc32(said)
    ? { life, commits: Number(commits), checksum: Number(checksum) }
    : undefined;
}

/** So that the file is found again after a loss of power. Not everywhere can a folder be opened. */
function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, 'r');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Where it cannot, the file system sees to it (Windows).
  }
}
