/** How large a value may be: `characters` of its texts and names, and one for each value in it. */
export interface ValueLimits {
  readonly depth: number;
  readonly characters: number;
}

/** Says what is too large about a value as JSON has it; undefined if nothing is. A value within itself is too deep. */
export function tooLarge(value: unknown, { depth, characters }: ValueLimits): string | undefined {
  let size = 0;
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 1 }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    size += typeof at.value === 'string' ? at.value.length + 1 : 1;
    if (typeof at.value === 'object' && at.value !== null) {
      if (at.depth > depth) return `it is nested more than ${depth} deep`;
      if (Array.isArray(at.value)) size += at.value.length;
      else for (const name of Object.keys(at.value)) size += name.length;
      if (size > characters) break;
      for (const inner of Object.values(at.value)) open.push({ value: inner, depth: at.depth + 1 });
    }
    if (size > characters) break;
  }
  return size > characters ? `it has more than ${characters} characters` : undefined;
}
