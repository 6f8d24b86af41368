/** More levels than what anybody means has; whoever reads many more runs out of stack. */
export const MAX_JSON_DEPTH = 100;

/** Lists and objects are nested in it deeper than `maxDepth` levels: no further than that is it looked at. */
export function isDeeperThan(value: unknown, maxDepth = MAX_JSON_DEPTH): boolean {
  if (!isNest(value)) return false;
  if (maxDepth === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isNest(item) && isDeeperThan(item, maxDepth - 1)) return true;
    return false;
  }
  // A list of the values costs more than looking at them does.
  for (const name of Object.keys(value)) {
    const item: unknown = (value as Record<string, unknown>)[name];
    if (isNest(item) && isDeeperThan(item, maxDepth - 1)) return true;
  }
  return false;
}

/** A number in it is larger than JSON's readers can tell from infinity, such as 1e999. Of what is not nested too deeply. */
export function holdsInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (!isNest(value)) return false;
  if (Array.isArray(value)) return value.some(holdsInfinity);
  return Object.keys(value).some((name) => holdsInfinity((value as Record<string, unknown>)[name]));
}

/** The JSON of a text. Throws SyntaxError for what is no JSON, or nested so deeply that whoever reads it runs out of stack. */
export function parseShallowJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isDeeperThan(value)) throw new SyntaxError(`It is nested deeper than ${MAX_JSON_DEPTH} levels`);
  return value;
}

const isNest = (value: unknown): value is object => typeof value === 'object' && value !== null;
