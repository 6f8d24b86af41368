import { markdownNodes } from '../markdown/parse-markdown.ts';

/** A script that a document says to run. */
export interface NamedScript {
  readonly name: string;
  readonly offset: number;
}

const RUN = /(?:^|[\s`;&|(])(?:npm|pnpm|yarn|bun) run(?:-script)? (?:-s |--silent )?([\w][\w:./-]*)/g;
/** Whoever makes a new project runs that one's scripts. */
const NEW_PROJECT =
  /\b(?:npm (?:create|init)\b|npx (?:-y |--yes )?(?:create-|degit|giget)|(?:yarn|pnpm|bun) create\b|bunx create-)/;
/** Runs in another package, by its own words. */
const ELSEWHERE = /--workspace|--prefix|--filter|\s-w\s|\s-C\s/;

/** The scripts that a document says to run by `npm run`, in code only. */
export function scriptsNamedIn(text: string): NamedScript[] {
  if (NEW_PROJECT.test(text)) return [];
  const found: NamedScript[] = [];
  for (const { node, start, end } of markdownNodes(text)) {
    if (node.type !== 'inlineCode' && node.type !== 'code') continue;
    const code = text.slice(start, end);
    for (const { 1: name = '', index, 0: words } of code.matchAll(RUN)) {
      const line = lineAround(code, index + words.length);
      if (!ELSEWHERE.test(line)) found.push({ name, offset: start + index + words.indexOf('run') });
    }
  }
  return found;
}

function lineAround(text: string, at: number): string {
  const end = text.indexOf('\n', at);
  return text.slice(text.lastIndexOf('\n', at - 1) + 1, end === -1 ? undefined : end);
}
