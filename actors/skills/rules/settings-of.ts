import { refused } from '../../../runtime/protocol/errors.ts';

/**
 * What a configuration says somewhere: `path` joins keys and places in lists by dots. `isLeaf`: there is nothing below it.
 */
export interface Setting {
  readonly path: string;
  readonly value: unknown;
  readonly isLeaf: boolean;
}

/** How many characters the paths and texts of a configuration may have, taken together. */
const MOST_CHARS = 4_194_304;

/**
 * Everything that a configuration says, in its order. One that is no list or object says itself, under the path ''. Throws REFUSED
 * for one that is too large.
 */
export function settingsOf(config: unknown): readonly Setting[] {
  const settings: Setting[] = [];
  const open: Omit<Setting, 'isLeaf'>[] = [{ path: '', value: config }];
  let chars = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, value } = next;
    const below = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    chars += path.length + 1 + (typeof value === 'string' ? value.length : 0);
    if (chars > MOST_CHARS)
      throw refused(`The configuration is too large to be checked: at most ${MOST_CHARS} characters`);
    if (path !== '' || below.length === 0) settings.push({ path, value, isLeaf: below.length === 0 });
    for (const [key, inner] of below.toReversed())
      open.push({ path: path === '' ? key : `${path}.${key}`, value: inner });
  }
  return settings;
}

/** `compiler.target=ES2024`; that of a configuration that says only itself is its text. */
export function settingText({ path, value }: Setting): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return path === '' ? text : `${path}=${text}`;
}
