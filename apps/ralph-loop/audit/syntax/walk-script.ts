import type { SourceText } from '../../findings/source-text.ts';
import type { Node } from './node.ts';
import { parseScript } from './parse-script.ts';
import { type Scope, walk } from './scopes.ts';

/** Walks every node of a script, as `walk` does, and returns why it could not, if so. */
export function walkScript(
  source: SourceText,
  visit: (node: Node, scope: Scope, ancestors: readonly Node[]) => void,
): string | undefined {
  const script = parseScript(source);
  if ('unparsable' in script) return script.unparsable;
  try {
    walk(script.program(), visit);
  } catch (error) {
    // The walk's own stack; what the parser's could bear is deeper.
    if (error instanceof RangeError) return 'is nested too deeply to be walked';
    throw error;
  }
  return undefined;
}
