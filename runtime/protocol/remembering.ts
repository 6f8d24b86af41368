/** `find`, whose last results are remembered, `most` of them: for what is asked over and over of few keys. What throws is not. */
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
