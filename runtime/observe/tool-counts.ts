/** How often each tool was called: its name and a number. */
export type ToolCount = readonly [tool: string, calls: number];

/** So many tools are counted by name; calls of all that come later are counted together. */
const MOST_NAMES = 1_000;
const OTHERS = '(others)';

/** Counts calls by tool. Names that come from outside do not fill the memory. */
export class ToolCounts {
  readonly #calls = new Map<string, number>();

  add(tool: string, calls = 1): void {
    const known = this.#calls.get(tool);
    const name = known === undefined && this.#calls.size >= MOST_NAMES ? OTHERS : tool;
    this.#calls.set(name, (known ?? this.#calls.get(name) ?? 0) + calls);
  }

  entries(): readonly ToolCount[] {
    return [...this.#calls];
  }
}

/** The counts of several, added up. */
export function sumOfCounts(lists: readonly (readonly ToolCount[])[]): readonly ToolCount[] {
  const sum = new ToolCounts();
  for (const [tool, calls] of lists.flat()) sum.add(tool, calls);
  return sum.entries();
}
