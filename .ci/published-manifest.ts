/** What of package.json is needed here. An export leads to a source, to its types, and to what is built of it. */
export interface Manifest {
  readonly [field: string]: unknown;
  readonly exports: Readonly<
    Record<
      string,
      string | { readonly 'orrery-source': string; readonly types: string; readonly default: string }
    >
  >;
}

const PUBLISHED = [
  'name',
  'version',
  'description',
  'license',
  'type',
  'sideEffects',
  'engines',
  'dependencies',
  'peerDependencies',
  'peerDependenciesMeta',
];

/** The manifest of the package, in the folder that it is built into: it leads to no source, and to nothing outside. */
export function publishedManifest(
  manifest: Manifest,
  bin: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  const built = (path: string): string => path.replace(/^\.\/dist\//, './');
  const exports = Object.entries(manifest.exports).map(([name, target]) => [
    name,
    typeof target === 'string' ? target : { types: built(target.types), default: built(target.default) },
  ]);
  return {
    ...Object.fromEntries(PUBLISHED.map((field) => [field, manifest[field]])),
    ...(Object.keys(bin).length === 0 ? {} : { bin }),
    exports: Object.fromEntries(exports),
  };
}
