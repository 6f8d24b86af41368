const NAMED: Readonly<Record<string, number>> = { '/dev/stdin': 0, '/dev/stdout': 1, '/dev/stderr': 2 };

/**
 * The file descriptor of this process that `path` names, such as `/dev/stdout`, or the `/dev/fd/63` that a shell makes of
 * `>(...)`.
 *
 * It must be written as it is: opening it again would lose its position, and a socket cannot be opened at all.
 */
export function ownDescriptor(path: string): number | undefined {
  const number = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(path)?.[1];
  return number === undefined ? NAMED[path] : Number(number);
}
