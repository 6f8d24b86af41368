import { isTypeScript, parseScript } from '../syntax/parse-script.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { namesImportedAt, valueNames } from './value-names.ts';

/** Those of `offsets` whose import the compiler drops, because all of its names are only used as types. */
export function erasedImports(source: SourceText, offsets: readonly number[]): number[] {
  if (!isTypeScript(source.file)) return [];
  const script = parseScript(source);
  if ('unparsable' in script) return [];
  const program = script.program();
  const used = valueNames(program);
  return offsets.filter((offset) => {
    const imported = namesImportedAt(program, offset);
    return imported !== undefined && imported.length > 0 && !imported.some((name) => used.has(name));
  });
}
