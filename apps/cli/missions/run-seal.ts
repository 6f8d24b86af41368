import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { linkSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeOwn } from '../own-folder.ts';
import { UsageError } from '../usage-error.ts';

const KEY_BYTES = 32;
const OWN_FILE = 0o600;
const OTHERS = 0o077;

/**
 * By which a user knows again what they have written themselves into a place where others may write, too: a repository that
 * was cloned or unpacked may bring records that it wishes to be believed.
 */
export class RunSeal {
  readonly #keyFile: string;
  #key: Buffer | undefined;

  /** `keyFile` is made at the first seal, in a folder of the user's. */
  constructor(keyFile: string) {
    this.#keyFile = keyFile;
  }

  /** Throws UsageError where no key can be kept. */
  seal(text: string): string {
    try {
      this.#key ??= readKey(this.#keyFile) ?? makeKey(this.#keyFile);
    } catch (error) {
      throw new UsageError(`No key can be kept at ${this.#keyFile}: ${(error as Error).message}`);
    }
    return sealWith(this.#key, text);
  }

  /** Whether the seal is of this text, and was made with the user's key. */
  fits(text: string, seal: string): boolean {
    try {
      this.#key ??= readKey(this.#keyFile);
    } catch {
      return false;
    }
    if (this.#key === undefined) return false;
    const [made, found] = [sealWith(this.#key, text), seal].map((one) => Buffer.from(one)) as [
      Buffer,
      Buffer,
    ];
    return made.length === found.length && timingSafeEqual(made, found);
  }
}

const sealWith = (key: Buffer, text: string): string => createHmac('sha256', key).update(text).digest('hex');

/** Undefined where there is none. Throws where others could have written or read it. */
function readKey(file: string): Buffer | undefined {
  const status = lstatSync(file, { throwIfNoEntry: false });
  if (status === undefined) return undefined;
  if (!status.isFile()) throw new Error('it is no file');
  if (process.getuid !== undefined && status.uid !== process.getuid())
    throw new Error("it is somebody else's");
  if ((status.mode & OTHERS) !== 0) throw new Error('others may read it');
  const key = readFileSync(file);
  if (key.length !== KEY_BYTES) throw new Error(`it has ${key.length} bytes, expected ${KEY_BYTES}`);
  return key;
}

/** Of several processes that make one at the same time, the first is right. */
function makeKey(file: string): Buffer {
  makeOwn(dirname(file));
  const part = `${file}.${process.pid}.part`;
  rmSync(part, { force: true });
  writeFileSync(part, randomBytes(KEY_BYTES), { flag: 'wx', mode: OWN_FILE });
  try {
    linkSync(part, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(part, { force: true });
  }
  const key = readKey(file);
  if (key === undefined) throw new Error('it is gone again');
  return key;
}
