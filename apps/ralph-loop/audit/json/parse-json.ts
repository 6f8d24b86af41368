import { findNodeAtLocation, type JSONPath, type Node, parseTree } from 'jsonc-parser';

/** What a text of JSON says, or why it says nothing. */
export type ParsedJson = { readonly value: unknown } | { readonly fault: string };

/** Nobody writes deeper, and whoever walks through a value recurses. */
const MAX_DEPTH = 200;

/** Parses as strictly as npm and browsers do; a byte order mark is taken off when a file is read. */
export function parseJson(text: string): ParsedJson {
  if (isDeeperThan(MAX_DEPTH, text)) return { fault: 'is nested too deeply to be read' };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { fault: `is not JSON: ${(error as Error).message}` };
  }
}

function isDeeperThan(most: number, text: string): boolean {
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') isInText = !isInText;
    else if (isInText) at += character === '\\' ? 1 : 0;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > most) return true;
  }
  return false;
}

/** The places of what stands in a text that `parseJson` takes. Parses it once more: ask when there is something to say. */
export class JsonPlaces {
  readonly #tree: Node | undefined;

  constructor(text: string) {
    this.#tree = parseTree(text);
  }

  /** Where the key at `path` stands, or the nearest of what is around it that is there. */
  offsetOf(path: JSONPath): number {
    if (this.#tree === undefined) return 0;
    for (let length = path.length; length > 0; length--) {
      const node = findNodeAtLocation(this.#tree, path.slice(0, length));
      if (node !== undefined) return node.parent?.type === 'property' ? node.parent.offset : node.offset;
    }
    return this.#tree.offset;
  }
}
