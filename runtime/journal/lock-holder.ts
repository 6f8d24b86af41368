import { readFileSync, statSync } from 'node:fs';

/** Where SQLite puts its locks: far behind what most files hold, so that other locks on the file are not mistaken for them. */
const FIRST_LOCK_BYTE = 0x4000_0000;

/** The process that holds SQLite's lock on the file, where the kernel tells (Linux); undefined where it does not. */
export function lockHolder(file: string): number | undefined {
  try {
    const { dev, ino } = statSync(file, { bigint: true });
    const held = readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .map(parseLock)
      .filter((lock) => lock?.inode === String(ino) && lock.firstByte >= FIRST_LOCK_BYTE);
    // Some file systems give their files other device numbers than they give their locks.
    const onDevice = held.find((lock) => lock?.device === deviceText(dev));
    return (onDevice ?? held[0])?.pid;
  } catch {
    return undefined;
  }
}

interface HeldLock {
  readonly pid: number;
  readonly device: string;
  readonly inode: string;
  readonly firstByte: number;
}

/** One line of `/proc/locks`: `1: POSIX  ADVISORY  WRITE 12795 fe:00:2195459 1073741824 1073742335`. */
function parseLock(line: string): HeldLock | undefined {
  const parts = /^\d+: POSIX +\S+ +\S+ (\d+) ([0-9a-f]+:[0-9a-f]+):(\d+) (\d+) /.exec(line);
  if (parts === null) return undefined;
  const [, pid, device, inode, firstByte] = parts as unknown as [string, string, string, string, string];
  // Whoever cannot be seen from here is 0.
  return Number(pid) > 0 ? { pid: Number(pid), device, inode, firstByte: Number(firstByte) } : undefined;
}

/** A device number as the kernel writes it: major and minor in hexadecimal. */
function deviceText(dev: bigint): string {
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & 0xff_ff_ff_00n);
  const hex = (part: bigint): string => part.toString(16).padStart(2, '0');
  return `${hex(major)}:${hex(minor)}`;
}
