/** Fields of a package that others load. */
const ENTRIES = ['main', 'module', 'exports', 'bin', 'publishConfig'];

/** Whether a package.json says that others get the package: named, versioned, loaded by something, not kept private. */
export function isPublished(manifest: unknown): manifest is object {
  if (typeof manifest !== 'object' || manifest === null || Array.isArray(manifest)) return false;
  const { name, version, private: isPrivate, ...others } = manifest as Record<string, unknown>;
  const isNamed = typeof name === 'string' && typeof version === 'string';
  return isNamed && isPrivate !== true && ENTRIES.some((field) => field in others);
}
