import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  parseAllDocuments,
  type Scalar,
  type YAMLMap,
} from 'yaml';

/** A text of YAML, looked at without building its values: aliases of aliases then cost nothing. */
export type ParsedYaml = { readonly trees: readonly YamlTree[] } | { readonly fault: string };

export function parseYaml(text: string): ParsedYaml {
  try {
    const documents = [
      ...parseAllDocuments(text, { uniqueKeys: false, logLevel: 'silent' }),
    ] as Document.Parsed[];
    const error = documents.flatMap(({ errors }) => errors)[0];
    if (error !== undefined) return { fault: `is not YAML: ${error.message.split('\n')[0]}` };
    return { trees: documents.map((document) => new YamlTree(document, document.contents)) };
  } catch (error) {
    if (error instanceof RangeError) return { fault: 'is nested too deeply to be parsed' };
    throw error;
  }
}

/** One place in a text of YAML and what is below it; what is not there is a tree of nothing. */
export class YamlTree {
  readonly #document: Document;
  readonly #node: Node | null | undefined;

  constructor(document: Document, node: unknown) {
    this.#document = document;
    const found = node as Node | null | undefined;
    this.#node = isAlias(found) ? found.resolve(document) : found;
  }

  get isThere(): boolean {
    return this.#node !== null && this.#node !== undefined;
  }

  /** The text of a scalar; numbers and booleans as they would be written. */
  get text(): string | undefined {
    const node = this.#node;
    return isScalar(node) && node.value !== null ? String((node as Scalar).value) : undefined;
  }

  /** Where it begins and ends in the text. */
  get range(): { readonly start: number; readonly end: number } {
    const [start, end] = this.#node?.range ?? [0, 0];
    return { start, end };
  }

  at(...path: readonly string[]): YamlTree {
    const [key, ...rest] = path;
    if (key === undefined) return this;
    const node = this.#node;
    const value = isMap(node) ? (node as YAMLMap).get(key, true) : undefined;
    return new YamlTree(this.#document, value).at(...rest);
  }

  /** Each key of a map with where it stands and its value. */
  get entries(): readonly { readonly key: string; readonly offset: number; readonly value: YamlTree }[] {
    const node = this.#node;
    if (!isMap(node)) return [];
    return (node as YAMLMap).items.map(({ key, value }) => ({
      key: isScalar(key) ? String(key.value) : '',
      offset: isScalar(key) ? (key.range?.[0] ?? 0) : 0,
      value: new YamlTree(this.#document, value),
    }));
  }

  /** The items of a list. */
  get items(): readonly YamlTree[] {
    const node = this.#node;
    return isSeq(node) ? node.items.map((item) => new YamlTree(this.#document, item)) : [];
  }
}
