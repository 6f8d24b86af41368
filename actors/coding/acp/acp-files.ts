import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AcpReadRequest, AcpWriteRequest } from './acp-message.ts';
import { pathWithin } from './path-within.ts';

/** The largest file that is read, bytes. */
const MAX_FILE_BYTES = 8_000_000;
const { O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW, O_NONBLOCK } = constants;

/** The files of a worktree, for a program that has others read and write them. What it throws is an answer to the program. */
export class AcpFiles {
  readonly #root: string;

  /** `root` is a real path. */
  constructor(root: string) {
    this.#root = root;
  }

  /** The text of a file, or `limit` lines of it from `line`, which counts from 1. */
  read({ path, line, limit }: AcpReadRequest): string {
    const text = withFile(this.#within(path), O_RDONLY, (file, bytes) => {
      if (bytes > MAX_FILE_BYTES) throw new Error(`${path} has more than ${MAX_FILE_BYTES} bytes`);
      return readFileSync(file, 'utf8');
    });
    if (line == null && limit == null) return text;
    const from = Math.max(0, (line ?? 1) - 1);
    return text
      .split('\n')
      .slice(from, limit == null ? undefined : from + limit)
      .join('\n');
  }

  write({ path, content }: AcpWriteRequest): void {
    const real = this.#within(path);
    mkdirSync(dirname(real), { recursive: true });
    withFile(real, O_WRONLY | O_CREAT | O_TRUNC, (file) => writeFileSync(file, content));
  }

  #within(path: string): string {
    const real = pathWithin(this.#root, path);
    if (real === undefined) throw new Error(`${path} is not in the worktree`);
    return real;
  }
}

/** Opens a file that is one: no link that was put there meanwhile, and no pipe, which would be waited for. */
function withFile<Result>(path: string, flags: number, use: (file: number, bytes: number) => Result): Result {
  const file = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o644);
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw new Error(`${path} is no file`);
    return use(file, found.size);
  } finally {
    closeSync(file);
  }
}
