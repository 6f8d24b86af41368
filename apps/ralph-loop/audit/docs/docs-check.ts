import type { Defect } from '../evidence.ts';
import type { FileDefects, FileScan } from '../file-scan.ts';
import { Anchors } from '../markdown/anchors.ts';
import { markdownFault, markdownNodes } from '../markdown/parse-markdown.ts';
import { MANIFEST } from '../packages/manifest.ts';
import { readSource } from '../../findings/read-source.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { findTarget } from './find-target.ts';
import { checkFrontDoor } from './front-door.ts';
import { jsonFault } from './json-blocks.ts';
import { linksOf, targetOf } from './links.ts';
import { FILE_RULES } from './rules.ts';

const MARKDOWN = /\.(?:md|markdown)$/i;
/** Others' texts, texts that become other texts, and what was true once. */
const NOT_OURS =
  /(^|\/)(?:(?:__)?(?:fixtures?|snapshots?)(?:__)?|testdata|test-data|templates?|vendor|third[-_]party)\/|(^|\/)(?:changelog|changes|history|releases?)[^/]*$|(^|\/)\.github\/(?:issue_template|pull_request_template)/i;

export const isDocument = (file: string): boolean => MARKDOWN.test(file) && !NOT_OURS.test(file);

/** CALLISTO's look at single documents: links, anchors and blocks of JSON, and what belongs beside package.json. */
export const DOCS_CHECK: FileScan = {
  rules: FILE_RULES,
  nothing: 'there is no Markdown to look at',
  takes: (file) => isDocument(file) || file === MANIFEST,
  scan: (source, root) =>
    source.file === MANIFEST ? checkFrontDoor(source, root) : checkDocument(source, root),
};

function checkDocument(source: SourceText, root: string): FileDefects {
  const unparsable = markdownFault(source.text);
  if (unparsable !== undefined) return { defects: [], unparsable };
  return { defects: [...checkLinks(source, root), ...checkJson(source)] };
}

function* checkLinks(source: SourceText, root: string): Generator<Defect> {
  const anchors = new KnownAnchors(root, source);
  for (const { url, offset } of linksOf(source.text)) {
    const target = targetOf(url);
    if (target === undefined) continue;
    const found = target.path === '' ? { file: source.file } : findTarget(root, source.file, target.path);
    if (found === 'nowhere') {
      const message = `The link leads to ${target.path}, which is not there`;
      yield { rule: 'docs.broken-link', offset, message };
    } else if (found !== 'elsewhere' && target.anchor !== '' && !anchors.has(found.file, target.anchor)) {
      const message = `${found.file} has no heading for #${target.anchor}`;
      yield { rule: 'docs.broken-anchor', offset, message };
    }
  }
}

/** The anchors of the documents that one document links to, each read once. */
class KnownAnchors {
  readonly #root: string;
  readonly #source: SourceText;
  readonly #byFile = new Map<string, Anchors | undefined>();

  constructor(root: string, source: SourceText) {
    this.#root = root;
    this.#source = source;
  }

  /** Whether a document has a place of that name; of what is no Markdown, or cannot be read, nobody knows. */
  has(file: string, anchor: string): boolean {
    if (!MARKDOWN.test(file)) return true;
    if (!this.#byFile.has(file)) this.#byFile.set(file, this.#read(file));
    return this.#byFile.get(file)?.has(anchor) ?? true;
  }

  #read(file: string): Anchors | undefined {
    if (file === this.#source.file) return Anchors.of(this.#source.text);
    const read = readSource(this.#root, file);
    return 'source' in read ? Anchors.of(read.source.text) : undefined;
  }
}

function* checkJson(source: SourceText): Generator<Defect> {
  for (const { node, start } of markdownNodes(source.text)) {
    if (node.type !== 'code' || node.lang !== 'json' || node.meta) continue;
    const fault = jsonFault(node.value);
    if (fault === undefined) continue;
    // The first line of the block is the one below its fence.
    const line = source.positionAt(start).line + 1 + fault.line;
    yield { rule: 'docs.broken-json', offset: source.startOf(line) ?? start, message: fault.message };
  }
}
