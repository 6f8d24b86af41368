/** Names of cards by something that several cards have, such as a capability. */
export class CardIndex {
  readonly #names = new Map<string, Set<string>>();

  add(key: string, name: string): void {
    const names = this.#names.get(key);
    if (names === undefined) this.#names.set(key, new Set([name]));
    else names.add(name);
  }

  delete(key: string, name: string): void {
    const names = this.#names.get(key);
    names?.delete(name);
    if (names?.size === 0) this.#names.delete(key);
  }

  get(key: string): Iterable<string> {
    return this.#names.get(key) ?? [];
  }
}
