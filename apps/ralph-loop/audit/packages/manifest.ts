import { z } from 'zod';
import { parseJson } from '../json/parse-json.ts';
import { readSource } from '../../findings/read-source.ts';

const Ranges = z.record(z.string(), z.string()).catch({});
const Words = z.record(z.string(), z.string());

/**
 * What a package.json says that a job asks about. What is not as npm has it counts as not said.
 *
 * - `exports`, `browser`, `files`, `publishConfig`, `workspaces`  anything; only looked through.
 */
export const PackageFields = z.object({
  name: z.string().optional().catch(undefined),
  private: z.boolean().catch(false),
  license: z.string().optional().catch(undefined),
  main: z.string().optional().catch(undefined),
  module: z.string().optional().catch(undefined),
  types: z.string().optional().catch(undefined),
  browser: z.unknown().optional(),
  exports: z.unknown().optional(),
  files: z.unknown().optional(),
  publishConfig: z.unknown().optional(),
  workspaces: z.unknown().optional(),
  bin: z
    .union([z.string().transform((path) => ({ '': path })), Words])
    .optional()
    .catch(undefined),
  scripts: Words.catch({}),
  dependencies: Ranges,
  devDependencies: Ranges,
  peerDependencies: Ranges,
  optionalDependencies: Ranges,
});
export type PackageFields = z.infer<typeof PackageFields>;

/** A package.json of the repository. */
export interface Manifest {
  /** Relative to the root, '' or ending in '/'. */
  readonly folder: string;
  readonly file: string;
  readonly fields: PackageFields;
}

/** Longer ones are made by programs, and would fill the memory where there are thousands. */
const MAX_MANIFEST_BYTES = 256 * 1024;

export const MANIFEST = 'package.json';

/** Reads one package.json, or says why not. */
export function readManifest(
  root: string,
  file: string,
):
  | { readonly manifest: Manifest; readonly bytes: number }
  | { readonly skipped: string; readonly reason: string } {
  const read = readSource(root, file, MAX_MANIFEST_BYTES);
  if ('skipped' in read) return read;
  const parsed = parseJson(read.source.text);
  if ('fault' in parsed) return { skipped: 'unparsable', reason: parsed.fault };
  const fields = PackageFields.safeParse(parsed.value);
  if (!fields.success) return { skipped: 'unparsable', reason: 'is no object' };
  return {
    manifest: { folder: file.slice(0, -MANIFEST.length), file, fields: fields.data },
    bytes: read.bytes,
  };
}
