import { createHash } from 'node:crypto';

/** A tool or prompt under its full name, `agent.own`, and whose it is. */
export interface AgentsOwn {
  readonly name: string;
  readonly agentId: string;
}

/** Clients elsewhere take no longer ones. */
const MAX_PORTABLE = 64;
const HASH_DIGITS = 8;

/**
 * The names of tools or prompts, in two forms: the full one, `agent.own`, and the portable one, `agent__own`, for clients that
 * take no dots: each character of it is one of A-Z, a-z, 0-9, `_`, `-`, and there are at most 64. Whoever reads a name takes
 * either.
 *
 * The portable form is the shortened one with a hash of the full name where that is too long, or where several would be the
 * same: then all of them have a hash, so that none can take another's place.
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

  /** What has this name, in either form. */
  find(name: string): Item | undefined {
    // A portable name has no dot, a full one has.
    return this.#byName.get(name) ?? (name.includes('.') ? undefined : this.#both.items.get(name));
  }

  /** The portable name of one of them. */
  portable(item: Item): string {
    return this.#both.names.get(item) ?? portableName(item);
  }

  /** Made when it is first needed: most never are. */
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

/** The portable name of a tool or prompt that shares it with nobody. */
export function portableName({ name, agentId }: AgentsOwn): string {
  const plain = `${portableText(agentId)}__${portableText(name.slice(agentId.length + 1))}`;
  return plain.length <= MAX_PORTABLE ? plain : hashed(plain, name);
}

const portableText = (text: string): string => text.replace(/[^A-Za-z0-9_-]/gu, '_');

function hashed(plain: string, name: string): string {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_DIGITS);
  return `${plain.slice(0, MAX_PORTABLE - HASH_DIGITS - 1)}_${hash}`;
}
