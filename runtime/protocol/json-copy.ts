/**
 * A copy of what JSON can carry: see `findUnserialisable`. For the small values of which there are many, `structuredClone`
 * costs several times as much.
 */
export function copyJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson);
  const copy: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const copied = copyJson(item);
    // To assign it would be to say what the copy inherits from.
    if (name === '__proto__')
      Object.defineProperty(copy, name, {
        value: copied,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    else copy[name] = copied;
  }
  return copy;
}
