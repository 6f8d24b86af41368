/** Returns `find` with a cache of its last `most` results, for few keys that are asked for often. Errors are not cached. */
export function remembering<Value>(most: number, find: (key: string) => Value): (key: string) => Value {
  const known = new Map<string, Value>();
  return (key) => {
    const former = known.get(key);
    if (former !== undefined) return former;
    const value = find(key);
    if (known.size >= most) known.clear();
    known.set(key, value);
    return value;
  };
}
