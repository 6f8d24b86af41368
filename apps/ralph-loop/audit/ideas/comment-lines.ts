import type { SourceText } from '../../findings/source-text.ts';

/** A line of a comment, without the marks; `offset` is where its words begin. */
export interface CommentLine {
  readonly words: string;
  readonly offset: number;
}

/** What begins a line that is surely a comment, by the endings of files. */
const MARKS: readonly (readonly [files: RegExp, mark: RegExp])[] = [
  [
    /\.(?:go|rs|java|kt|kts|swift|c|cc|cpp|cxx|h|hpp|cs|scala|dart|php|scss|less|proto|gradle|groovy)$/i,
    /^[ \t]*(?:\/\/[/!]?|\/\*+|\*(?!\/))/,
  ],
  [/\.css$/i, /^[ \t]*(?:\/\*+|\*(?!\/))/],
  [
    /\.(?:py|rb|sh|bash|zsh|ya?ml|toml|pl|r|ex|exs|tf|ini|cfg|conf|properties|nix|graphql)$|(?:^|\/)(?:Dockerfile|Makefile|Containerfile|\.gitignore|\.env)$/i,
    /^[ \t]*#+(?!!)/,
  ],
  [/\.(?:sql|lua|hs|elm)$/i, /^[ \t]*--/],
  [/\.(?:html?|xml|vue|svelte)$/i, /^[ \t]*<!--/],
];

/** Whether comments of a file that is no script can be told from the rest by how their lines begin. */
export const hasCommentLines = (file: string): boolean => MARKS.some(([files]) => files.test(file));

/** The lines that are comments and nothing else. What stands behind code is not told from a text that looks like it. */
export function* commentLinesOf({ file, text }: SourceText): Generator<CommentLine> {
  const mark = MARKS.find(([files]) => files.test(file))?.[1];
  if (mark === undefined) return;
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end === -1 ? undefined : end);
    const begin = mark.exec(line)?.[0];
    if (begin !== undefined) yield trimmed(line.slice(begin.length), at + begin.length);
    at += line.length + 1;
  }
}

/** The lines of a comment of a script; `start` is where it begins, marks included. */
export function* linesOfComment(value: string, start: number): Generator<CommentLine> {
  let at = start + 2;
  for (const line of value.split('\n')) {
    const begin = /^[\s*!/]*/.exec(line)?.[0] ?? '';
    yield trimmed(line.slice(begin.length), at + begin.length);
    at += line.length + 1;
  }
}

function trimmed(words: string, offset: number): CommentLine {
  const begin = words.length - words.trimStart().length;
  return { words: words.trim().replace(/\s*(?:\*\/|-->)$/, ''), offset: offset + begin };
}
