import type { Note } from '@orrery/ralph-loop';
import { readSource } from '@orrery/ralph-loop/findings/read-source';
import type { Nodes, Root } from 'mdast';
import type { VFile } from 'vfile';
import type { Hit, Tool, ToolJob, ToolResult } from '../tool.ts';
import { isDemo, isSample, isTest } from './aside.ts';
import { decoded } from './decoded.ts';
import { LinkTargets } from './link-targets.ts';
import { firstOfEach, hitOf, ruleTable } from './scan-files.ts';

const RULES = ruleTable('remark', {
  medium: {
    'missing-file': 'The link leads to a file that is not there',
  },
  low: {
    'missing-heading': 'The link leads to a heading that the page does not have',
    'missing-heading-in-file': 'The link leads to a heading that the other page does not have',
    'no-duplicate-definitions': 'The reference is defined twice; only the first definition counts',
  },
});

/** Finds links in Markdown that lead nowhere. It looks at files only, and fetches nothing. */
export const remark: Tool = {
  name: 'remark',
  module: import.meta.url,
  packages: ['remark-validate-links', 'remark-lint-no-duplicate-definitions'],
  licence: 'MIT',
  home: 'https://github.com/remarkjs/remark-lint',
  replaces: 'the rules docs.*',
  rules: RULES,
  nothing: 'no Markdown',
  takes: (file) => /\.(?:md|markdown)$/i.test(file) && !isSample(file) && !isTest(file) && !ONCE.test(file),
  run: lintDocuments,
};

/** Texts about the past, and sources of other texts. */
const ONCE =
  /(^|\/)(?:changelog|changes|history|releases?|news)[^/]*$|(^|\/)(?:\.changeset|changelogs?|blog|versioned_docs|_posts|i18n)\/|(^|\/)\.github\/(?:issue_template|pull_request_template)/i;

async function lintDocuments(
  { root, files }: ToolJob,
  progress: Parameters<Tool['run']>[1],
): Promise<ToolResult> {
  const { read, finish } = await documentReader(root);
  const notes: Note[] = [];
  const documents: { file: string; vfile: VFile; tree: Root }[] = [];
  for (const [done, file] of files.entries()) {
    const found = readSource(root, file);
    if ('source' in found) documents.push({ file, ...(await read(file, found.source.text)) });
    else notes.push({ kind: found.skipped, file, reason: found.reason });
    progress(done + 1, files.length);
  }
  await finish(documents);
  const targets = new LinkTargets(root);
  const hits = documents.flatMap(({ file, vfile, tree }) => {
    const isPage = hasTitle(tree);
    const text = String(vfile);
    const definitions = text.split('\n').map(definitionIn);
    const found = vfile.messages.flatMap(({ ruleId, reason, line, column }): Hit[] => {
      if (line === undefined || (ruleId === 'missing-heading' && !isPage)) return [];
      const complaint = { file, text, definitions, line, ruleId: ruleId ?? '', reason };
      if (mayBeMeant(complaint, targets)) return [];
      const id = `remark/${ruleId}`;
      return hitOf(RULES, id, { file }, { line, column, message: `${RULES[id]?.what}: ${reason}.` });
    });
    // A missing target is reported once, however often it is linked.
    return firstOfEach(
      [...new Map(found.toReversed().map((hit) => [hit.message, hit])).values()].reverse(),
      5,
    );
  });
  return { hits, notes, filesSeen: documents.length };
}

/**
 * Reads documents one by one, and compares their links at the end. Plug-ins run without unified's engine, so that no settings
 * of the repository are loaded.
 */
async function documentReader(root: string) {
  const [{ unified }, { VFile: Document }, parse, gfm, frontmatter, control, validate, duplicates] =
    await Promise.all([
      import('unified'),
      import('vfile'),
      import('remark-parse'),
      import('remark-gfm'),
      import('remark-frontmatter'),
      import('remark-message-control'),
      import('remark-validate-links'),
      import('remark-lint-no-duplicate-definitions'),
    ]);
  type Completer = (files: readonly VFile[]) => Promise<void>;
  const completers = new Set<Completer>();
  const fileSet = { use: (completer: Completer) => completers.add(completer), add: () => undefined };
  // Keeps it from asking git for the repository's origin.
  const links = validate.default({ repository: false, root }, fileSet as never);
  const processor = unified()
    .use(parse.default)
    .use(gfm.default)
    .use(frontmatter.default)
    .use(duplicates.default);
  const comments = unified().use(control.default, { name: 'lint', source: [...SOURCES] });
  return {
    read: async (path: string, value: string) => {
      const vfile = new Document({ cwd: root, path, value });
      const tree = processor.parse(vfile);
      mendAddresses(tree);
      await processor.run(tree, vfile);
      await links(tree, vfile);
      return { vfile, tree };
    },
    /** Compares the links, then applies comments that disable rules. */
    finish: async (documents: readonly { vfile: VFile; tree: Root }[]): Promise<void> => {
      for (const completer of completers) await completer(documents.map(({ vfile }) => vfile));
      for (const { vfile, tree } of documents) await comments.run(tree, vfile);
    },
  };
}

/** Whether a document has a title. Without one it is part of a larger page, with headings elsewhere. */
const hasTitle = ({ children }: Root): boolean =>
  children.some(
    (node) =>
      (node.type === 'heading' && node.depth === 1) ||
      (node.type === 'html' && /<h1\b/i.test(node.value)) ||
      (node.type === 'yaml' && /^title:/m.test(node.value)),
  );

/** Escapes lone `%` in URLs, which the plug-in cannot decode. */
function mendAddresses(node: Nodes): void {
  if ('url' in node && decoded(node.url) === node.url) node.url = node.url.replaceAll('%', '%25');
  if ('children' in node) for (const child of node.children) mendAddresses(child);
}

const SOURCES = [
  'remark-lint',
  ...['missing-file', 'missing-heading', 'missing-heading-in-file'].map(
    (id) => `remark-validate-links:${id}`,
  ),
];

interface Complaint {
  readonly file: string;
  readonly text: string;
  /** The definition on each line. */
  readonly definitions: readonly Definition[];
  readonly line: number;
  readonly ruleId: string;
  readonly reason: string;
}

/** Whether a complaint may be about something intended. */
function mayBeMeant(complaint: Complaint, targets: LinkTargets): boolean {
  const { file, text, definitions, line, ruleId, reason } = complaint;
  const { label } = definitions[line - 1] ?? {};
  if (ruleId === 'missing-file') {
    const path = /^Cannot find file `(.*?)`/s.exec(reason)?.[1] ?? '';
    // A label that occurs once is defined but not used.
    const isUnused = label !== undefined && text.toLowerCase().split(`[${label}]`).length === 2;
    return isUnused || isDemo(file) || /\.example\.\w+$/i.test(file) || targets.mayBeThere(file, path);
  }
  if (ruleId === 'no-duplicate-definitions') {
    const same = definitions.filter((other) => other.label === label);
    return new Set(same.map(({ address }) => address)).size === 1;
  }
  if (ruleId.startsWith('missing-heading')) {
    const [, anchor = '', other] = /^Cannot find heading for `#(.*?)`(?: in `(.*?)`)?/s.exec(reason) ?? [];
    return targets.mayHave(file, other, anchor);
  }
  return false;
}

interface Definition {
  readonly label: string | undefined;
  readonly address: string | undefined;
}

/** Reads a definition, as in `[label]: address`. */
function definitionIn(line: string): Definition {
  const [, label, address] = /^[\s>]*\[([^\]]+)\]:\s*(\S+)/.exec(line) ?? [];
  return { label: label?.toLowerCase(), address };
}
