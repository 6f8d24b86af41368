/** More levels than what anybody means has; whoever reads many more runs out of stack. */
export const MAX_JSON_DEPTH = 100;

/** Lists and objects are nested in it deeper than `maxDepth` levels. Never runs out of stack itself. */
export function isDeeperThan(value: unknown, maxDepth = MAX_JSON_DEPTH): boolean {
  let level = [value].filter(isNest);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === maxDepth) return true;
    level = level.flatMap((nest) => Object.values(nest).filter(isNest));
  }
  return false;
}

/** The JSON of a text. Throws SyntaxError for what is no JSON, or nested so deeply that whoever reads it runs out of stack. */
export function parseShallowJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isDeeperThan(value)) throw new SyntaxError(`It is nested deeper than ${MAX_JSON_DEPTH} levels`);
  return value;
}

const isNest = (value: unknown): value is object => typeof value === 'object' && value !== null;
