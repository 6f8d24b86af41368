import type { PackageFields } from './manifest.ts';

/** The fields of package.json that name other packages. */
export const SECTIONS = [
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
] as const;
export type Section = (typeof SECTIONS)[number];

/** A dependency as one section of a package.json declares it. */
export interface Declared {
  readonly section: Section;
  readonly name: string;
  readonly range: string;
}

/** Everything that a package declares, section by section. */
export const declaredIn = (fields: PackageFields): Declared[] =>
  SECTIONS.flatMap((section) =>
    Object.entries(fields[section]).map(([name, range]) => ({ section, name, range })),
  );
