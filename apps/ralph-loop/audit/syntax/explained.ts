import type { SourceText } from '../../findings/source-text.ts';
import type { Span } from './node.ts';

const COMMENT = /(^|\s)(\/\/|\/\*)|\*\/\s*$/;

/** Whether a comment stands beside a node, in it, at its ends, or on the line above: its author has seen it. */
export function isExplained(source: SourceText, { start, end }: Span): boolean {
  const [first, last] = [source.positionAt(start).line, source.positionAt(end).line];
  for (let line = Math.max(1, first - 1); line <= last; line++) {
    if (COMMENT.test(source.line(line) ?? '')) return true;
  }
  return false;
}
