import { isBuiltin } from 'node:module';
import { importReaderOf } from './imported.ts';
import type { Rule, RuleSubject, Violation } from './rule.ts';
import { type Setting, settingsOf, settingText } from './settings-of.ts';

/** What an operator goes by, whether it wants it or not: `MustUse` and `MustNotUse` both by `Use`. */
export type Looking = 'Use' | 'Match' | 'Exist';

/**
 * One of the things that rules look at: a file, a text, a dependency, an import, what a configuration says.
 *
 * - `texts`    it is found by any of them.
 * - `value`    that of a setting.
 * - `name`     how a violation calls it; never what a text or a configuration says, which may be a secret.
 * - `location` where it is; of a text the file alone.
 */
export interface Item {
  readonly texts: readonly string[];
  readonly value?: unknown;
  readonly name?: string;
  readonly location?: Violation['location'];
}

/**
 * - `isWhole` nothing of it is unknown: what is not among the items is not there.
 * - `chars`   about how much text that is.
 */
export interface Known extends Listed {
  readonly chars: number;
}

interface Listed {
  readonly items: readonly Item[];
  readonly isWhole: boolean;
}

/** What is known of a subject, by what rules look at. Each is found out when it is asked for first. */
export class KnownSubject {
  readonly #subject: RuleSubject;
  readonly #known = new Map<string, Known>();

  constructor(subject: RuleSubject) {
    this.#subject = subject;
  }

  of(target: Rule['target'], looking: Looking): Known {
    const kind = target === 'config' && looking === 'Match' ? 'leaves' : target;
    const known = this.#known.get(kind) ?? counted(FINDS[kind](this.#subject));
    this.#known.set(kind, known);
    return known;
  }
}

function counted(listed: Listed): Known {
  let chars = 0;
  for (const { texts } of listed.items) for (const { length } of texts) chars += length + 1;
  return { ...listed, chars };
}

const FINDS: Readonly<Record<Rule['target'] | 'leaves', (subject: RuleSubject) => Listed>> = {
  file: ({ files }) =>
    listed(
      files?.filter(({ path }) => path !== ''),
      fileItem,
      files?.every(({ path }) => path !== ''),
    ),
  code: ({ files = [] }) => ({
    items: files.flatMap(({ path, content }) =>
      content === undefined ? [] : [{ texts: [content], location: { file: plainPath(path) } }],
    ),
    isWhole: files.length > 0 && files.every(({ content }) => content !== undefined),
  }),
  dependency: ({ dependencies }) => listed(dependencies, dependencyItem),
  import: importsOf,
  config: ({ config }) => listed(config === undefined ? undefined : settingsOf(config), settingItem),
  leaves: ({ config }) =>
    listed(config === undefined ? undefined : settingsOf(config).filter(({ isLeaf }) => isLeaf), leafItem),
};

const listed = <Thing>(
  things: readonly Thing[] | undefined,
  itemOf: (thing: Thing) => Item,
  isWhole = true,
): Listed => ({ items: things?.map(itemOf) ?? [], isWhole: things !== undefined && isWhole });

/** A path as rules know it: with slashes, relative to the project. */
export const plainPath = (path: string): string => path.replaceAll('\\', '/').replace(/^(?:\.?\/+)+/, '');

function fileItem({ path }: { readonly path: string }): Item {
  const plain = plainPath(path);
  return { texts: [plain], name: plain, location: { file: plain } };
}

function dependencyItem({
  name,
  version,
}: {
  readonly name: string;
  readonly version?: string | undefined;
}): Item {
  const full = version === undefined ? name : `${name}@${version}`;
  return { texts: version === undefined ? [name] : [name, full], name: full };
}

const settingItem = ({ path, value }: Setting): Item => ({ texts: [path], value, name: path });

function leafItem(leaf: Setting): Item {
  return { texts: [settingText(leaf)], ...(leaf.path === '' ? {} : { name: leaf.path }) };
}

function importsOf({ imports, files = [] }: RuleSubject): Listed {
  const sources = files.flatMap(({ path, content }) => {
    const read = importReaderOf(path);
    return read === undefined
      ? []
      : [{ file: plainPath(path), imported: content === undefined ? undefined : read(content) }];
  });
  const found = sources.flatMap(({ file, imported = [] }) =>
    imported.map(({ name, line }) => ({ ...importItem(name), location: { file, line } })),
  );
  return {
    items: [...(imports ?? []).map(importItem), ...found],
    isWhole:
      (imports !== undefined || sources.length > 0) &&
      sources.every(({ imported }) => imported !== undefined),
  };
}

const importItem = (name: string): Item => {
  const plain = withoutNode(name);
  return { texts: plain === name ? [name] : [name, plain], name };
};

/** `node:fs` and `fs` are one; `node:test` and `test` are not. */
export function withoutNode(name: string): string {
  const plain = name.startsWith('node:') ? name.slice('node:'.length) : name;
  return isBuiltin(plain) ? plain : name;
}
