import type { SourceText } from '../../findings/source-text.ts';
import { isScript } from '../syntax/parse-script.ts';

/** Files in which a name says nothing about its being used: they list what there is, or talk about it. */
const SAYS_NOTHING =
  /(^|\/)(package\.json|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?)$|\.(mdx?|txt|rst|adoc|svg|csv|log|map|snap)$|(^|\/)(licen[cs]e|changelog|authors|notice)[^/]*$/i;

export const mayMention = (file: string): boolean => !SAYS_NOTHING.test(file);

const QUOTED = /["'`](?:[^"'`\s]*node_modules\/)?((?:@[\w.~-]+\/)?[\w.~-]+)/g;
const JSX_SOURCE = /@jsxImportSource\s+((?:@[\w.~-]+\/)?[\w.~-]+)/g;
const ANY_WORD = /(?:@[\w.~-]+\/)?[A-Za-z0-9~][\w.~-]*/g;

/** Every word of a file that may be the name of a package: what is quoted in a script, any word elsewhere. */
export function* wordsIn({ file, text }: SourceText): Generator<string> {
  if (!isScript(file) && !/\.d\.[cm]?ts$/i.test(file)) {
    for (const [word] of text.matchAll(ANY_WORD)) yield word;
    return;
  }
  for (const [, word = ''] of text.matchAll(QUOTED)) yield word;
  for (const [, word = ''] of text.matchAll(JSX_SOURCE)) yield word;
}

const CONFIGURES =
  /(^|\/)([tj]sconfig[^/]*\.json|[^/]+\.config\.[cm]?[jt]sx?|\.[a-z]+rc(\.[a-z]+)?|project\.json|import_?map\.json)$/i;

/** Whether a file may say that an import stands for something other than a package. */
export const mayAlias = (file: string): boolean => CONFIGURES.test(file);
