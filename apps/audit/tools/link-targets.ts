import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { readSource } from '@orrery/ralph-loop/findings/read-source';
import { ignoredBy, rulesFor } from '../ignore-rules.ts';
import { decoded } from './decoded.ts';
import { foldersAbove } from './folders-above.ts';

/** File endings of pages. A link may have another ending than the file. */
const PAGES = ['.md', '.mdx', '.markdown', '.html', '.rst', '.adoc'];
const INDEXES = ['/README.md', '/index.md', '/index.mdx', '/_index.md'];
/** Folders that builds and installations make, which a fresh copy lacks. */
const MADE = /(^|\/)(?:node_modules|dist|build|out|coverage|_site|target|api|typedoc)(\/|$)/;
/** Files at the root of a repository that are never in a package. */
const OF_REPOSITORIES = [
  '.git',
  '.github',
  '.gitignore',
  'package-lock.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'bun.lock',
];
/** Configurations of link checkers. They are read as text, for the quoted links that they ignore. */
const LINK_CHECKERS = ['.mlc.toml', 'lychee.toml', '.lychee.toml', '.markdown-link-check.json'];
const MARKDOWN = /\.(?:md|markdown)$/i;

/** Knows targets of links that are no plain files: pages of generators, builds and hosts, and HTML in Markdown. */
export class LinkTargets {
  readonly #root: string;
  readonly #texts = new Map<string, string | undefined>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Whether readers may find a path, relative to the folder of `document`. */
  mayBeThere(document: string, path: string): boolean {
    const folder = posix.dirname(document);
    const stem = document.replace(/\.[^./]+$/, '');
    // Generators serve `guide.md` as `guide/`, so that its links start one folder deeper.
    const candidates = [folder, stem, ...this.#renderedIn(stem), ...this.#servedFrom(document)].flatMap(
      (from) => spellings(posix.join(from, path)),
    );
    const [meant = ''] = candidates;
    // Paths outside the root are pages of the host, such as issues.
    if (meant.startsWith('..') || meant === '') return true;
    // HTML beside documents is made by a build.
    if (/[<>{}$*]|\s|^[^/]*:|\.html?$/.test(path)) return true;
    const isThere = candidates.some(
      (file) => !file.startsWith('..') && (existsSync(join(this.#root, file)) || this.#isNumbered(file)),
    );
    return (
      isThere ||
      MADE.test(meant) ||
      this.#isIgnored(meant) ||
      this.#isPacked() ||
      this.#isExcused(document, path)
    );
  }

  /** Whether a page may have an anchor: `other`, relative to the folder of `document`, or `document` itself. */
  mayHave(document: string, other: string | undefined, anchor: string): boolean {
    if (/^(?:L\d|user-content-|:~:|[/!?])|[=/<>{}]/.test(anchor)) return true;
    const file = other === undefined ? document : posix.join(posix.dirname(document), other);
    // Docsify makes other anchors than all others.
    if (!MARKDOWN.test(file) || file.startsWith('..') || this.#servedFrom(document).length > 0) return true;
    const text = this.#textOf(file)?.toLowerCase();
    if (text === undefined) return true;
    const name = decoded(anchor).toLowerCase();
    const named = [`"${name}"`, `'${name}'`, `=${name}>`, `=${name} `].some((spelt) => text.includes(spelt));
    const headings = headingsOf(text);
    return named || givenIds(text).has(name) || headings.has(lettersOf(name)) || headings.has(firstOf(name));
  }

  #textOf(file: string): string | undefined {
    if (!this.#texts.has(file)) {
      const read = readSource(this.#root, file);
      this.#texts.set(file, 'source' in read ? read.source.text : undefined);
    }
    return this.#texts.get(file);
  }

  /** Folders above a document with a Docsify page: links start there. */
  #servedFrom(document: string): string[] {
    return foldersAbove(document).filter((folder) =>
      this.#textOf(posix.join(folder, 'index.html'))?.includes('$docsify'),
    );
  }

  /** Folders above a document with an HTML page of its name. */
  #renderedIn(stem: string): string[] {
    const page = `${posix.basename(stem)}.html`;
    return foldersAbove(stem).filter((folder) => existsSync(join(this.#root, folder, page)));
  }

  /** Whether a file exists with a number before its name, which its URL leaves out, as in `80.pwa.md`. */
  #isNumbered(file: string): boolean {
    const folder = join(this.#root, posix.dirname(file));
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
    return readdirSync(folder).some(
      (name) => /^\d+\./.test(name) && file.endsWith(`/${name.replace(/^\d+\./, '')}`),
    );
  }

  /** Whether the root is a package without its repository, so that targets of links may be missing. */
  #isPacked(): boolean {
    const isThere = (name: string): boolean => existsSync(join(this.#root, name));
    const manifest = this.#textOf('package.json') ?? '';
    return /"files"\s*:/.test(manifest) && !OF_REPOSITORIES.some(isThere);
  }

  /** Whether the repository's link checker is configured to ignore the link, by the beginning of its URL. */
  #isExcused(document: string, path: string): boolean {
    return foldersAbove(document)
      .flatMap((folder) => LINK_CHECKERS.map((name) => this.#textOf(posix.join(folder, name)) ?? ''))
      .flatMap((text) =>
        [...text.matchAll(/["']\^?((?:\\?[\w./-])+)/g)].map(([, start = '']) => start.replaceAll('\\', '')),
      )
      .some((start) => start.includes('/') && path.startsWith(start));
  }

  /** Whether git ignores a path: a build or a user may create it. */
  #isIgnored(path: string): boolean {
    const names = new Set(['.gitignore']);
    const parts = path.split('/');
    let rules = rulesFor(this.#root, '', names, []);
    for (let depth = 1; depth < parts.length; depth++) {
      const folder = parts.slice(0, depth).join('/');
      if (ignoredBy(rules, folder, true) !== undefined) return true;
      rules = rulesFor(this.#root, `${folder}/`, names, rules);
    }
    return ignoredBy(rules, path, false) !== undefined;
  }
}

function spellings(path: string): string[] {
  const plain = path.replace(/\/$/, '');
  const page = plain.replace(/\.(?:html?|md|mdx)$/, '');
  return [plain, ...PAGES.map((ending) => page + ending), ...INDEXES.map((index) => page + index)];
}

/** The letters and digits of an anchor. Hosts and generators differ in the rest. */
const lettersOf = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '');

/** The same, without the number that distinguishes equal headings. */
const firstOf = (text: string): string => lettersOf(text.replace(/-\d+$/, ''));

/** Ids in braces, as in `## A heading { #id }`. */
const givenIds = (text: string): Set<string | undefined> =>
  new Set([...text.matchAll(/\{[^{}\n]*#([^\s{}]+)/g)].map(([, id]) => id));

function headingsOf(text: string): Set<string> {
  const headings = text.matchAll(
    /^\s{0,3}(?:>\s*)?(?:#{1,6}\s+(.+?)\s*#*|<h\d[^>]*>(.*?)<\/h\d>)\s*$|^(\S.*)\n(?:=+|-+)\s*$|^\s*===[!+]?\s+"(.+)"\s*$/gm,
  );
  return new Set(
    [...headings].flatMap(([, hash, html, setext, tab]) => {
      const title = (hash ?? html ?? setext ?? tab ?? '').replace(/<[^>]*>|\]\([^)]*\)|:[a-z_+-]+:/g, '');
      return [lettersOf(title), firstOf(title)];
    }),
  );
}
