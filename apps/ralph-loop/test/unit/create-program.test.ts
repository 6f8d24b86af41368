import type { CompilerHost, CreateProgramOptions, SourceFile } from 'typescript';
import { describe, expect, it } from 'vitest';
import { createProgram, type ReachedFiles } from '../../audit/compiler/create-program.ts';
import { ts } from '../../audit/compiler/typescript.ts';

const LENGTH = 5_000;
const OPTIONS = {
  noLib: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  types: [],
};

/** Files in memory, each of which imports the next. */
function chain(): { readonly files: ReachedFiles; readonly options: CreateProgramOptions } {
  const loaded = new Map<string, SourceFile>();
  const textOf = (path: string): string | undefined => {
    const index = Number(/^\/chain\/f(\d+)\.ts$/.exec(path)?.[1] ?? Number.NaN);
    if (!(index < LENGTH)) return undefined;
    return index === LENGTH - 1 ? 'export {};' : `import './f${index + 1}.ts';`;
  };
  const host: CompilerHost = {
    ...ts.createCompilerHost(OPTIONS),
    fileExists: (path) => textOf(path) !== undefined,
    directoryExists: () => true,
    readFile: textOf,
    getSourceFile: (path, language) => {
      const text = textOf(path);
      const file =
        loaded.get(path) ?? (text === undefined ? undefined : ts.createSourceFile(path, text, language));
      if (file !== undefined) loaded.set(path, file);
      return file;
    },
  };
  const files: ReachedFiles = {
    reached: () => [...loaded.keys()],
    mayComeFurther: (before) => loaded.size > before,
  };
  return { files, options: { rootNames: ['/chain/f0.ts'], options: OPTIONS, host } };
}

describe('a program of files that import each other in a chain', () => {
  it('holds them all, where the compiler alone overflows its stack', () => {
    const { files, options } = chain();
    expect(() => ts.createProgram(chain().options)).toThrow(RangeError);
    expect(createProgram(files, options).getSourceFiles()).toHaveLength(LENGTH);
  });

  it('ends with the overflow when another attempt would come no further', () => {
    const { options } = chain();
    const files: ReachedFiles = { reached: () => [], mayComeFurther: () => false };
    expect(() => createProgram(files, options)).toThrow(RangeError);
  });
});
