const NODES = 16;
const DEEPEST = 6;
const SMALL = 8;

/**
 * About how many bytes of memory a payload takes. A few of its parts are looked at; the others are taken to be alike.
 *
 * Costs at most a few microseconds, whatever the payload.
 */
export function estimateSize(value: unknown): number {
  try {
    return sizeOfPart(value, 0);
  } catch {
    return SMALL; // It throws when it is read.
  }
}

function sizeOfPart(value: unknown, depth: number): number {
  if (typeof value === 'string') return value.length + SMALL;
  if (typeof value !== 'object' || value === null) return SMALL;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (depth === DEEPEST) return SMALL;
  if (value instanceof Map) return sizeOfMany([...first(value.values())], value.size, depth);
  if (value instanceof Set) return sizeOfMany([...first(value)], value.size, depth);
  if (Array.isArray(value)) return sizeOfMany(spread(value), value.length, depth);
  return sizeOfFields(value as Record<string, unknown>, depth);
}

function sizeOfFields(fields: Record<string, unknown>, depth: number): number {
  let count = 0;
  let sum = 0;
  for (const key in fields) {
    count += 1;
    if (count > NODES) return sizeOfLarge(fields, depth);
    sum += SMALL + sizeOfPart(fields[key], depth + 1);
  }
  return Math.max(sum, SMALL);
}

function sizeOfLarge(fields: Record<string, unknown>, depth: number): number {
  const keys = Object.keys(fields);
  return sizeOfMany(
    spread(keys).map((key) => fields[key]),
    keys.length,
    depth,
  );
}

function sizeOfMany(some: readonly unknown[], count: number, depth: number): number {
  if (some.length === 0) return SMALL;
  let sum = 0;
  for (const part of some) sum += SMALL + sizeOfPart(part, depth + 1);
  return (sum / some.length) * count;
}

/** At most so many of the items, from all over. */
function spread<Item>(items: readonly Item[]): readonly Item[] {
  if (items.length <= NODES) return items;
  return Array.from({ length: NODES }, (_, at) => items[Math.floor((at * items.length) / NODES)] as Item);
}

function* first<Item>(items: Iterable<Item>): Iterable<Item> {
  let count = 0;
  for (const item of items) {
    if (count === NODES) return;
    count += 1;
    yield item;
  }
}
