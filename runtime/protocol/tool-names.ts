import { createHash } from 'node:crypto';

/** A tool or prompt with its full name, `agent.own`, and its agent. */
export interface AgentsOwn {
  readonly name: string;
  readonly agentId: string;
}

/** The longest name that MCP clients take. */
const MAX_PORTABLE = 64;
const HASH_DIGITS = 8;

/**
 * The names of tools or prompts, in two forms: the full one, `agent.own`, and the portable one, `agent__own`. The portable one is
 * for clients that take no dots: it has at most 64 characters of A-Z, a-z, 0-9, `_` and `-`. Both are accepted.
 *
 * If a portable name is too long, or several would be the same, it is shortened and ends with a hash of the full name. Of several
 * equal ones all get a hash, so that none can take another's place.
 */
export class ToolNames<Item extends AgentsOwn> {
  readonly #byName: ReadonlyMap<string, Item>;
  readonly #items: readonly Item[];
  #portable:
    | { readonly names: ReadonlyMap<Item, string>; readonly items: ReadonlyMap<string, Item> }
    | undefined;

  constructor(items: readonly Item[]) {
    this.#items = items;
    this.#byName = new Map(items.map((item) => [item.name, item]));
  }

  /** The item with this name, in either form. */
  find(name: string): Item | undefined {
    // A portable name has no dot, a full one has.
    return this.#byName.get(name) ?? (name.includes('.') ? undefined : this.#both.items.get(name));
  }

  /** The portable name of an item. */
  portable(item: Item): string {
    return this.#both.names.get(item) ?? portableName(item);
  }

  /** The index of names. It is made when it is first needed: most never are. */
  get #both() {
    this.#portable ??= portableNames(this.#items);
    return this.#portable;
  }
}

function portableNames<Item extends AgentsOwn>(items: readonly Item[]) {
  const counts = new Map<string, number>();
  for (const item of items) {
    const plain = portableName(item);
    counts.set(plain, (counts.get(plain) ?? 0) + 1);
  }
  const names = new Map<Item, string>();
  for (const item of items) {
    const plain = portableName(item);
    names.set(item, counts.get(plain) === 1 ? plain : hashed(plain, item.name));
  }
  return { names, items: new Map([...names].map(([item, name]) => [name, item])) };
}

/** The portable name of a tool or prompt, if no other has the same. */
export function portableName({ name, agentId }: AgentsOwn): string {
  const plain = `${portableText(agentId)}__${portableText(name.slice(agentId.length + 1))}`;
  return plain.length <= MAX_PORTABLE ? plain : hashed(plain, name);
}

const portableText = (text: string): string => text.replace(/[^A-Za-z0-9_-]/gu, '_');

function hashed(plain: string, name: string): string {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_DIGITS);
  return `${plain.slice(0, MAX_PORTABLE - HASH_DIGITS - 1)}_${hash}`;
}
