import { invalidOptions } from '../protocol/errors.ts';

/** Says whether a version is meant. */
export type VersionRange = (version: string) => boolean;

type Triple = readonly [major: number, minor: number, patch: number];
/** `until` is excluded. */
interface Interval {
  readonly from: Triple;
  readonly until: Triple;
}

const PART = /^(>=|<=|>|<|=|\^|~)?v?(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(?:[-+][\w.+-]*)?$/;
const FIRST: Triple = [0, 0, 0];
const END: Triple = [Number.POSITIVE_INFINITY, 0, 0];

/**
 * Which versions a text means: one (`1.2.3`), or all that fit all of its parts (`1.x`, `^1.2`, `~1.2.3`, `>=1.2 <3`, `*`).
 * What stands behind a hyphen or a plus counts only where the text is the version itself. A text that is no such range means
 * the version that is called so. Fails with INVALID_OPTIONS naming `field`.
 */
export function versionRange(field: string, text: unknown): VersionRange {
  if (typeof text !== 'string' || text.trim() === '')
    throw invalidOptions(field, text, 'a version, or a range of versions');
  const parts = text.trim().split(/\s+/).map(intervalOf);
  if (parts.some((part) => part === undefined)) return (version) => version === text;
  return (version) => {
    if (version === text) return true;
    const triple = tripleOf(version);
    if (triple === undefined) return text.trim() === '*';
    return (parts as Interval[]).every(
      ({ from, until }) => order(from, triple) <= 0 && order(triple, until) < 0,
    );
  };
}

function intervalOf(part: string): Interval | undefined {
  const match = PART.exec(part);
  if (match === null) return undefined;
  const [major, minor, patch] = match.slice(2, 5).map(numberOf);
  const from: Triple = [major ?? 0, minor ?? 0, patch ?? 0];
  const next = nextAfter(major, minor, patch);
  switch (match[1]) {
    case '>=':
      return { from, until: END };
    case '>':
      return { from: next, until: END };
    case '<':
      return { from: FIRST, until: from };
    case '<=':
      return { from: FIRST, until: next };
    case '^':
      return { from, until: nextBreaking(from, next) };
    case '~':
      return { from, until: minor === undefined ? next : nextAfter(major, minor, undefined) };
    default:
      return { from, until: next };
  }
}

function numberOf(digits: string | undefined): number | undefined {
  return digits === undefined || !/^\d/.test(digits) ? undefined : Number(digits);
}

/** The first version behind those that the text so far stands for. */
function nextAfter(major: number | undefined, minor: number | undefined, patch: number | undefined): Triple {
  if (major === undefined) return END;
  if (minor === undefined) return [major + 1, 0, 0];
  return patch === undefined ? [major, minor + 1, 0] : [major, minor, patch + 1];
}

/** The next version that may break this one: where the first number that is not 0 changes (semantic versioning). */
function nextBreaking([major, minor, patch]: Triple, next: Triple): Triple {
  if (major > 0) return [major + 1, 0, 0];
  if (minor > 0) return [0, minor + 1, 0];
  return patch > 0 ? [0, 0, patch + 1] : next;
}

function tripleOf(version: string): Triple | undefined {
  const match = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:[-+].*)?$/.exec(version);
  if (match === null) return undefined;
  const [major = 0, minor = 0, patch = 0] = match.slice(1).map(numberOf);
  return [major, minor, patch];
}

function order(one: Triple, other: Triple): number {
  const at = one.findIndex((number, index) => number !== other[index]);
  return at < 0 ? 0 : (one[at] as number) - (other[at] as number);
}
