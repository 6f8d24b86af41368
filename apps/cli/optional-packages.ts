import packageJson from 'orrery/package.json' with { type: 'json' };

/** The optional packages of Orrery, and what each is needed for. */
export const optionalPackages: readonly (readonly [name: string, what: string])[] = Object.entries(
  packageJson.peerDependenciesMeta,
).map(([name, { for: what }]) => [name, what]);

/** Whether this command can import a package. */
export function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
