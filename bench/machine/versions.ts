import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { ROOT } from '../builds.ts';

/**
 * What was measured.
 *
 * - `orrery`    its version, and the commit it was at; `isDirty` if files differed from that.
 * - `packages`  those whose code contenders run, by name.
 */
export const Versions = z.strictObject({
  node: z.string(),
  v8: z.string(),
  orrery: z.strictObject({
    version: z.string(),
    commit: z.string().optional(),
    isDirty: z.boolean().optional(),
  }),
  packages: z.record(z.string(), z.string()),
});
export type Versions = z.infer<typeof Versions>;

/** A package, and the module that imports it. */
export interface UsedPackage {
  readonly name: string;
  readonly from: URL;
}

export async function versionsOf(used: readonly UsedPackage[]): Promise<Versions> {
  const sorted = used.toSorted((a, b) => a.name.localeCompare(b.name));
  return {
    node: process.versions.node,
    v8: process.versions.v8,
    orrery: { version: versionIn(fileURLToPath(new URL('package.json', ROOT))), ...(await checkedOut()) },
    packages: Object.fromEntries(sorted.map(({ name, from }) => [name, versionOfPackage(name, from)])),
  };
}

function versionOfPackage(name: string, from: URL): string {
  const manifest = manifestOf(name, from);
  return manifest === undefined ? 'not installed' : versionIn(manifest);
}

function manifestOf(name: string, from: URL): string | undefined {
  try {
    return findPackageJSON(name, from);
  } catch {
    return undefined;
  }
}

const Manifest = z.looseObject({ version: z.string().default('unknown') });

const versionIn = (manifest: string): string =>
  Manifest.parse(JSON.parse(readFileSync(manifest, 'utf8'))).version;

/** What git says of the folder; nothing where there is no git, or no repository. */
async function checkedOut(): Promise<{ readonly commit?: string; readonly isDirty?: boolean }> {
  const git = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)('git', args, { cwd: fileURLToPath(ROOT) })).stdout.trim();
  try {
    return { commit: await git('rev-parse', 'HEAD'), isDirty: (await git('status', '--porcelain')) !== '' };
  } catch {
    return {};
  }
}
