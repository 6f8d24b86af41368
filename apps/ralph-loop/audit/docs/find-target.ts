import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { ignoredBy, rulesFor } from '../ignore-rules.ts';

/** What documentation is made of; a page may be linked under another ending than it is written with. */
const PAGES = ['.md', '.mdx', '.markdown', '.html', '.rst', '.adoc'];
const INDEXES = ['/README.md', '/index.md', '/index.mdx', '/_index.md'];
/** Made by builds and installations: not there in a fresh copy. */
const MADE = /(^|\/)(?:node_modules|dist|build|out|coverage|_site|target)(\/|$)/;

/**
 * The file or folder of the repository that a link means, `nowhere` if there is none.
 *
 * `elsewhere` is what nobody can know: what lies outside, as in links to a hosting service's pages, and what builds make.
 */
export function findTarget(
  root: string,
  document: string,
  path: string,
): { readonly file: string } | 'elsewhere' | 'nowhere' {
  const folder = posix.dirname(document);
  const stem = document.replace(/\.[^./]+$/, '');
  // Generators serve a page `guide.md` as `guide/`, so that its links begin one folder further down.
  const candidates = [folder, stem].flatMap((from) => spellings(posix.join(from, path)));
  const [meant = ''] = candidates;
  if (meant.startsWith('..')) return 'elsewhere';
  const found = candidates.find((file) => !file.startsWith('..') && existsSync(join(root, file)));
  if (found !== undefined) return { file: found };
  return MADE.test(meant) || isIgnored(root, meant) ? 'elsewhere' : 'nowhere';
}

function spellings(path: string): string[] {
  const plain = path.replace(/\/$/, '');
  const page = plain.replace(/\.(?:html?|md|mdx)$/, '');
  return [plain, ...PAGES.map((ending) => page + ending), ...INDEXES.map((index) => page + index)];
}

/** Whether git leaves a path out: a build or a user may make it. */
function isIgnored(root: string, path: string): boolean {
  const names = new Set(['.gitignore']);
  const parts = path.split('/');
  let rules = rulesFor(root, '', names, []);
  for (let depth = 1; depth < parts.length; depth++) {
    const folder = parts.slice(0, depth).join('/');
    if (ignoredBy(rules, folder, true) !== undefined) return true;
    rules = rulesFor(root, `${folder}/`, names, rules);
  }
  return ignoredBy(rules, path, false) !== undefined;
}
