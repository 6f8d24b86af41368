import { type Comment, type ParseResult, type ParserOptions, type Program, parseSync } from 'oxc-parser';
import type { SourceText } from '../../findings/source-text.ts';
import { isTooDeep } from './nesting.ts';

/** A parsed file, or why it is not. Ask for `program` only when it is needed: it costs more than the parsing. */
export type Script =
  | {
      readonly module: ParseResult['module'];
      readonly program: () => Program;
      readonly comments: () => readonly Comment[];
    }
  | { readonly unparsable: string };

const SCRIPT = /\.(?:[cm]?[jt]s|[jt]sx)$/i;
const TYPE_SCRIPT = /\.(?:[cm]?ts|tsx)$/i;
const DECLARATIONS = /\.d\.[cm]?ts$/i;

/** Whether a file holds JavaScript or TypeScript that runs; declaration files do not. */
export const isScript = (file: string): boolean => SCRIPT.test(file) && !DECLARATIONS.test(file);

export const isTypeScript = (file: string): boolean => TYPE_SCRIPT.test(file);

export function parseScript({ file, text }: SourceText): Script {
  if (isTooDeep(text)) return { unparsable: 'is nested too deeply to be parsed' };
  let first: string | undefined;
  for (const options of dialectsOf(file)) {
    const result = parseSync(file, text, { ...options, preserveParens: false });
    const error = result.errors.find(({ severity }) => severity === 'Error');
    if (error === undefined) {
      return { module: result.module, program: () => result.program, comments: () => result.comments };
    }
    first ??= error.message;
  }
  return { unparsable: `cannot be parsed: ${first}` };
}

/** How a file may be meant; JavaScript does not say whether it is a module, nor whether it holds JSX. */
function dialectsOf(file: string): ParserOptions[] {
  const lower = file.toLowerCase();
  if (TYPE_SCRIPT.test(lower)) {
    return [
      { lang: lower.endsWith('x') ? 'tsx' : 'ts', sourceType: 'module' },
      { lang: 'ts', sourceType: 'script' },
    ];
  }
  return [
    { lang: 'jsx', sourceType: 'module' },
    { lang: 'jsx', sourceType: 'commonjs' },
  ];
}
