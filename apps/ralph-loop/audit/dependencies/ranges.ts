import { intersects, validRange } from 'semver';
import type { Manifest } from '../packages/manifest.ts';
import { declaredIn, type Declared } from '../packages/sections.ts';
import type { ManifestFault } from './fault.ts';

/** `own`: the names of the repository's packages, among which any version is the one that is there. */
export function checkRanges({ file, fields }: Manifest, own: ReadonlySet<string>): ManifestFault[] {
  const declared = declaredIn(fields);
  const faults = declared.flatMap((one): ManifestFault[] => {
    const { section, name, range } = one;
    // What a package works together with may well be any version; what it needs is said elsewhere.
    if (section === 'peerDependencies') return [];
    const path = [section, name];
    if (isAny(range)) {
      if (own.has(name)) return [];
      return [
        {
          file,
          path,
          rule: 'dependencies.any-version',
          message: `${name} may be any version (${range || "''"})`,
        },
      ];
    }
    if (!followsBranch(range)) return [];
    const message = `${name} follows a branch (${range}): it may be something else tomorrow`;
    return [{ file, path, rule: 'dependencies.git-version', message }];
  });
  return [...faults, ...declaredTwice(file, declared)];
}

/** A range without a bound, or a tag, which is whatever was published last under it. */
function isAny(range: string): boolean {
  const bare = range.trim();
  if (validRange(bare) === '*') return true;
  return validRange(bare) === null && /^[a-z][\w-]*$/i.test(bare);
}

const GIT = /^(git(\+\w+)?:|git@|github:|gitlab:|bitbucket:|https?:\/\/.+\.git(#|$)|[\w-]+\/[\w.-]+(#.*)?$)/i;
const FIXED = /#(.*\/)?([0-9a-f]{7,40}$|semver:|v?\d+\.\d+\.\d+)/i;

/** A commit or a tag with a version stays what it is. */
const followsBranch = (range: string): boolean => GIT.test(range) && !FIXED.test(range);

function declaredTwice(file: string, declared: readonly Declared[]): ManifestFault[] {
  const needed = new Set(
    declared.filter(({ section }) => section === 'dependencies').map(({ name }) => name),
  );
  return declared
    .filter(({ section, name }) => section === 'devDependencies' && needed.has(name))
    .map(({ section, name }) => ({
      file,
      path: [section, name],
      rule: 'dependencies.twice',
      message: `${name} is declared in dependencies and in devDependencies`,
    }));
}

interface Use extends Declared {
  readonly manifest: Manifest;
}

/** Packages developed together that ask for different versions of the same thing; the fewest are told. */
export function checkAcross(workspaces: readonly Manifest[]): ManifestFault[] {
  const uses = workspaces.flatMap((manifest): Use[] =>
    declaredIn(manifest.fields)
      .filter(
        ({ section, range }) => section !== 'peerDependencies' && validRange(range) !== null && !isAny(range),
      )
      .map((one) => ({ ...one, manifest })),
  );
  return [...Map.groupBy(uses, ({ name }) => name).values()].flatMap(differing);
}

function differing(uses: readonly Use[]): ManifestFault[] {
  const byRange = [...Map.groupBy(uses, ({ range }) => validRange(range)).values()];
  const [common, ...others] = byRange.sort((a, b) => b.length - a.length);
  const usual = common?.[0];
  if (usual === undefined) return [];
  return others.flat().map(({ manifest: { file }, section, name, range }) => {
    const differs = intersects(range, usual.range)
      ? 'which need not be the same version'
      : 'so two are installed';
    const message = `${name} is ${range} here and ${usual.range} in ${usual.manifest.file}, ${differs}`;
    return { file, path: [section, name], rule: 'dependencies.different-ranges', message };
  });
}
