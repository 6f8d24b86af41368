import { PlainId } from '../mission.ts';

/** The longest id that is made of a key. */
const MAX_LENGTH = 100;

/** An id of a mission for each key: the key itself where it can be one, else what is left of it. */
export function plainIds(keys: readonly string[]): ReadonlyMap<string, string> {
  const isPlain = (key: string): boolean => key.length <= MAX_LENGTH && PlainId.safeParse(key).success;
  const ids = new Map(keys.filter(isPlain).map((key) => [key, key]));
  const taken = new Set(ids.values());
  for (const key of keys) {
    if (ids.has(key)) continue;
    const id = freeId(plainPart(key), taken);
    taken.add(id);
    ids.set(key, id);
  }
  return ids;
}

function plainPart(key: string): string {
  const plain = key
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[._-]+|[._-]+$/g, '');
  return plain === '' ? 'task' : plain.slice(0, MAX_LENGTH);
}

function freeId(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number += 1) if (!taken.has(`${wanted}-${number}`)) return `${wanted}-${number}`;
}
