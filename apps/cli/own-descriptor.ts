const NAMED: Readonly<Record<string, number>> = { '/dev/stdin': 0, '/dev/stdout': 1, '/dev/stderr': 2 };

/**
 * The open file of this process that `path` names (`/dev/stdout`, the `/dev/fd/63` that a shell makes of `>(...)`).
 *
 * It is written as it is: opened anew it would lose its place in a file, and a socket cannot be opened at all.
 */
export function ownDescriptor(path: string): number | undefined {
  const number = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(path)?.[1];
  return number === undefined ? NAMED[path] : Number(number);
}
