import type { EdgeCall } from '../../http/edge-call.ts';
import type { Dialect } from '../wire/dialect.ts';
import { VERSION_HEADER } from '../wire/headers.ts';
import { fault } from '../wire/faults.ts';

/** What a request without a version speaks. */
const UNSAID = '0.3';
/** The dialect that had no versions yet: nobody names it. */
const UNNAMED = '0.1';

/** The version that a request says it speaks, by the header or the query parameter; empty is unsaid. */
export function saidVersion({ headers, url }: Pick<EdgeCall, 'headers' | 'url'>): string | undefined {
  const said = headers.get(VERSION_HEADER) ?? new URL(url).searchParams.get(VERSION_HEADER);
  const version = said?.trim();
  return version === undefined || version === '' ? undefined : version;
}

/**
 * The dialect of a request: that of its version, where the patch number does not count; without one that of 0.3. Throws
 * VERSION_NOT_SUPPORTED.
 */
export function dialectOf(dialects: readonly Dialect[], said: string | undefined): Dialect {
  const wanted = said === undefined ? UNSAID : /^\d+\.\d+(?=$|\.\d+$)/.exec(said)?.[0];
  const dialect = wanted === UNNAMED ? undefined : dialects.find(({ version }) => version === wanted);
  if (dialect !== undefined) return dialect;
  const versions = dialects.map(({ version }) => version).filter((version) => version !== UNNAMED);
  throw fault(
    'VERSION_NOT_SUPPORTED',
    `${VERSION_HEADER}: is ${said === undefined ? `left out, which means ${UNSAID}` : `"${said}"`}, expected one of ${versions.join(', ')}`,
    { field: VERSION_HEADER, value: said ?? UNSAID, versions },
  );
}

/**
 * The dialect of a JSON-RPC request: as `dialectOf`, but who names no version may also use the methods of the dialect before
 * there were versions; those of its methods that are also some of 0.3's are its own to tell apart. Throws
 * VERSION_NOT_SUPPORTED, METHOD_NOT_FOUND.
 */
export function dialectOfMethod(
  dialects: readonly Dialect[],
  said: string | undefined,
  method: string,
): Dialect {
  const has = (dialect: Dialect): boolean => Object.hasOwn(dialect.methods, method);
  const old = dialects.find((candidate) => candidate.version === UNNAMED && has(candidate));
  if (said === undefined && old !== undefined) return old;
  const dialect = dialectOf(dialects, said);
  if (has(dialect)) return dialect;
  const other = dialects.find((candidate) => candidate.version !== UNNAMED && has(candidate));
  const hint =
    other === undefined ? '' : `; it is one of ${other.version}, which the header ${VERSION_HEADER} says`;
  throw fault('METHOD_NOT_FOUND', `There is no method "${method}" in A2A ${dialect.version}${hint}`, {
    method,
    version: dialect.version,
  });
}

/** In which dialect to say what is wrong with a request of which no more is known than the version it names. */
export function dialectForErrors(dialects: readonly Dialect[], said: string | undefined): Dialect {
  try {
    return dialectOf(dialects, said);
  } catch (error) {
    const [newest] = dialects;
    if (newest === undefined) throw error;
    return newest;
  }
}
