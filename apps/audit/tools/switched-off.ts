import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readSource } from '@orrery/ralph-loop/findings/read-source';
import { foldersAbove } from './folders-above.ts';

const CONFIGURATION =
  /^(?:\.eslintrc(?:\.\w+)?|eslint\.config\.[cm]?[jt]s|\.?oxlintrc\.jsonc?|package\.json|\.?biome\.jsonc?)$/;

/** The longest configuration that is read, characters. Searching brackets takes quadratic time. */
const MAX_CHARACTERS = 50_000;

/** Finds rules that a repository has switched off in its own linter. Configurations are read as text, never loaded. */
export class SwitchedOff {
  readonly #root: string;
  readonly #folders = new Map<string, ReadonlyMap<string, boolean>>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Whether the nearest configuration above a file that names the rule switches it off, by any linter's name for it. */
  has(file: string, rule: string): boolean {
    const names = [nameOf(rule), ...(rule.startsWith('jsx-a11y/') ? ['a11y'] : [])];
    return names.some((name) => {
      const nearest = foldersAbove(file).find((folder) => this.#saidIn(folder).has(name));
      return nearest !== undefined && this.#saidIn(nearest).get(name) === true;
    });
  }

  #saidIn(folder: string): ReadonlyMap<string, boolean> {
    const known = this.#folders.get(folder);
    if (known !== undefined) return known;
    const said = new Map(this.#configurationsIn(folder).flatMap(switchesIn));
    this.#folders.set(folder, said);
    return said;
  }

  #configurationsIn(folder: string): { readonly name: string; readonly text: string }[] {
    const names = readdirSync(join(this.#root, folder)).filter((name) => CONFIGURATION.test(name));
    return names.flatMap((name) => {
      const read = readSource(this.#root, join(folder, name));
      return 'skipped' in read || read.source.text.length > MAX_CHARACTERS
        ? []
        : [{ name, text: read.source.text }];
    });
  }
}

/** Biome's names of rules, in kebab case, where they differ from ESLint's. */
const BIOME: Readonly<Record<string, string>> = {
  'no-constant-binary-expressions': 'no-constant-binary-expression',
  'no-global-eval': 'no-eval',
  'no-import-cycles': 'no-cycle',
  'no-label-without-control': 'label-has-associated-control',
  'no-nested-component-definitions': 'no-unstable-nested-components',
  'no-positive-tabindex': 'tabindex-no-positive',
  'no-redundant-alt': 'img-redundant-alt',
  'use-alt-text': 'alt-text',
  'use-anchor-content': 'anchor-has-content',
  'use-heading-content': 'heading-has-content',
  'use-hook-at-top-level': 'rules-of-hooks',
  'use-html-lang': 'html-has-lang',
  'use-iframe-title': 'iframe-has-title',
  'use-jsx-key-in-iterable': 'jsx-key',
  'use-key-with-click-events': 'click-events-have-key-events',
  'use-key-with-mouse-events': 'mouse-events-have-key-events',
  'use-media-caption': 'media-has-caption',
  'use-valid-aria-props': 'aria-props',
  'use-valid-aria-role': 'aria-role',
  'use-valid-aria-values': 'aria-proptypes',
  'use-valid-autocomplete': 'autocomplete-valid',
};

/**
 * The common name of a rule: `jsx-a11y/alt-text` is `alt-text`, and Biome's `noFloatingPromises` is `no-floating-promises`.
 */
function nameOf(rule: string): string {
  const name = rule.slice(rule.lastIndexOf('/') + 1).replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`);
  return BIOME[name.toLowerCase()] ?? name.toLowerCase();
}

const SWITCH =
  /(["']?)([\w@/-]+)\1\s*:\s*[[{-]?\s*(?:"level"\s*:\s*)?(["']?)(off|error|warn|info|on|[012])\3(?=\s*[,;\]}]|[ \t]*$)/gim;

function switchesIn({ name, text }: { name: string; text: string }): [rule: string, isOff: boolean][] {
  const whole = forAllFiles(bare(text), name.startsWith('eslint.config') ? FLAT : OLD);
  const groups = whole.replace(/"(a11y)"\s*:\s*\{[^{}]*"recommended"\s*:\s*false/g, '"$1": "off", "":{');
  return [...groups.matchAll(SWITCH)].map(([, , rule = '', , value = '']) => [
    nameOf(rule),
    /^(?:off|0)$/i.test(value),
  ]);
}

/** Removes comments, and brackets in strings. */
const bare = (text: string): string =>
  text.replace(
    /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`[^`]*`|\/\/.*|\/\*[\s\S]*?\*\/|^\s*#.*/gm,
    (token) => (/^\s*[/#]/.test(token) ? '' : token.replace(/[[\](){}]/g, '_')),
  );

const OLD = /\boverrides["']?\s*:\s*(?:\[|(?:\n[ \t-].*|\n(?=\n))+)/g;
/** A list of files that is limited to more than endings, such as `**\/*.ts`. */
const FLAT = /\bfiles["']?\s*:(?!\s*\[\s*(?:["'`]\*\*(?:\/\*(?:\.[\w,?()|@+*]+)?)?["'`][\s,]*)+\])/g;

/** Removes settings for some files only. */
function forAllFiles(text: string, some: RegExp): string {
  let rest = text;
  for (const { index, 0: opening } of text.matchAll(some)) {
    if (!opening.includes('\n') || opening.endsWith('[')) {
      const at = index + opening.length;
      rest = blanked(rest, edge(text, at, -1), edge(text, at, 1));
    } else rest = blanked(rest, index, index + opening.length);
  }
  return rest;
}

const blanked = (text: string, from: number, to: number): string =>
  text.slice(0, from) + ' '.repeat(to - from) + text.slice(to);

/** The offset of the bracket before or after an offset, at its level. */
function edge(text: string, from: number, step: 1 | -1): number {
  let depth = 0;
  let at = step === 1 ? from : from - 1;
  for (; at >= 0 && at < text.length && depth >= 0; at += step) {
    if ('[({'.includes(text.charAt(at))) depth += step;
    if ('])}'.includes(text.charAt(at))) depth -= step;
  }
  return Math.max(0, at);
}
