/**
 * The native parser recurses without a limit and its stack overflow ends the whole process (oxc-project/oxc#24375).
 * In a worker it survives 2,000 brackets, 3,000 `a<a<` or `a=>a=>` and 12,000 `else if`; hand-written code stays below a
 * tenth of these bounds.
 */
const MAX_BRACKETS = 1_000;
const MAX_OPERATORS = 2_000;
const MAX_ELSE_IFS = 5_000;

const STRINGS = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;

/**
 * Says whether a text may be given to the parser.
 *
 * An estimate without parsing. It stops what generators and minifiers make by accident; somebody who hides brackets from
 * it behind quotes in regular expressions can still end the process, which is what the process tier is for.
 */
export function isTooDeep(text: string): boolean {
  if (text.length < MAX_BRACKETS) return false;
  const code = text.replace(STRINGS, '""');
  return bracketDepth(text) > MAX_BRACKETS || bracketDepth(code) > MAX_BRACKETS || hasLongChain(code);
}

function bracketDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // ( [ { open, ) ] } close
    if (code === 40 || code === 91 || code === 123) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if ((code === 41 || code === 93 || code === 125) && depth > 0) depth -= 1;
  }
  return deepest;
}

/** Operators between two separators nest without brackets. */
function hasLongChain(code: string): boolean {
  let operators = 0;
  for (let at = 0; at < code.length; at++) {
    const character = code[at] as string;
    if (';,(){}[]'.includes(character)) operators = 0;
    else if ('+-*/%<>=!&|^~?'.includes(character) && ++operators > MAX_OPERATORS) return true;
  }
  return (code.match(/\belse\s+if\b/g)?.length ?? 0) > MAX_ELSE_IFS;
}
