import { isAside } from '../aside.ts';
import { type Defect, findingsOf } from '../evidence.ts';
import { readImports } from '../imports/read-imports.ts';
import { ImportResolver } from '../imports/resolve-import.ts';
import { listFiles } from '../list-files.ts';
import { isMadeByMachine } from '../made-by-machine.ts';
import { MemoryRelief } from '../memory-relief.ts';
import { entryFiles, isLibrary } from '../packages/entry-points.ts';
import { PackageTree } from '../packages/package-tree.ts';
import type { ProgressCounter } from '../progress-counter.ts';
import { readSource } from '../../findings/read-source.ts';
import type { ReportBuilder } from '../report-builder.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { isScript } from '../syntax/parse-script.ts';
import { findConsoleWrites } from './console-writes.ts';

/** Adds what published libraries write to the console of whoever imports them. `root` is a real path. */
export async function addConsoleWrites(
  root: string,
  report: ReportBuilder,
  progress: ProgressCounter,
): Promise<void> {
  using memory = new MemoryRelief();
  // The scan before has noted what cannot be listed.
  const files = [...listFiles(root, { note: () => {} })].map(({ path }) => path);
  const tree = PackageTree.read(root, files, {
    note: report.note.bind(report),
    saw: (bytes) => report.saw(bytes),
  });
  const scripts = new Set(files.filter((file) => isScript(file) && !isAside(file)));
  const resolver = new ImportResolver(root);
  const reached = new Set<string>();
  for (const library of tree.all) {
    if (!isLibrary(library)) continue;
    const pending = entryFiles(library, (file) => scripts.has(file));
    for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
      if (reached.has(file) || tree.owner(file) !== library) continue;
      reached.add(file);
      progress.expect(1);
      const read = readSource(root, file);
      if ('source' in read && !isMadeByMachine(read.source)) {
        const { defects, imported } = lookInto(read.source, resolver);
        for (const finding of await findingsOf(read.source, defects)) report.add(finding);
        pending.push(...imported.filter((one) => scripts.has(one)));
        await memory.parsed(read.bytes);
      }
      progress.advance();
    }
  }
}

function lookInto(
  source: SourceText,
  resolver: ImportResolver,
): { readonly defects: readonly Defect[]; readonly imported: readonly string[] } {
  const found = readImports(source);
  // A file that cannot be parsed is JUPITER's and the compiler's to name.
  if ('unparsable' in found) return { defects: [], imported: [] };
  const imported = found.imports.flatMap(({ specifier, kind }) => {
    const target = kind === 'type' ? 'outside' : resolver.resolve(source.file, specifier);
    return typeof target === 'string' ? [] : [target.file];
  });
  return { defects: findConsoleWrites(source), imported };
}
