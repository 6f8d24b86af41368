import packageJson from 'orrery/package.json' with { type: 'json' };

/** The packages that Orrery uses where they are installed, and what it needs each for. */
export const optionalPackages: readonly (readonly [name: string, what: string])[] = Object.entries(
  packageJson.peerDependenciesMeta,
).map(([name, { for: what }]) => [name, what]);

/** Whether a package is there for this command. */
export function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
