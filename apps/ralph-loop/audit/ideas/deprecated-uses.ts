import type { EcmaScriptModule } from 'oxc-parser';
import { isAside } from '../aside.ts';
import { type Defect, findingsOf } from '../evidence.ts';
import { ImportResolver } from '../imports/resolve-import.ts';
import type { MemoryRelief } from '../memory-relief.ts';
import { readSource } from '../../findings/read-source.ts';
import type { ReportBuilder } from '../report-builder.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { parseScript } from '../syntax/parse-script.ts';
import { type Deprecations, deprecationsIn } from './deprecations.ts';
import { DEPRECATED_USE } from './rules.ts';

/** More re-exports are no repository whose deprecations somebody keeps in mind. */
const MAX_RE_EXPORTS = 100_000;

/** A name that a file passes on from another; `name` is '*' for all of them. */
interface ReExport {
  readonly file: string;
  readonly exported: string;
  readonly from: string;
  readonly name: string;
}

/** Finds who imports what is marked @deprecated elsewhere in the repository, directly or by way of files that pass it on. */
export class DeprecatedUses {
  readonly #root: string;
  readonly #resolver: ImportResolver;
  readonly #deprecated = new Map<string, Map<string, string>>();
  readonly #reExports: ReExport[] = [];

  /** `root` is a real path. */
  constructor(root: string) {
    this.#root = root;
    this.#resolver = new ImportResolver(root);
  }

  /** To be called with every script first. */
  learn(source: SourceText): void {
    const own = deprecationsIn(source);
    if (own.size > 0) this.#deprecated.set(source.file, new Map(own));
    if (!/\bexport\s*(?:type\s*)?[{*]/.test(source.text)) return;
    const script = parseScript(source);
    if ('unparsable' in script || this.#reExports.length > MAX_RE_EXPORTS) return;
    for (const one of reExportsOf(script.module)) {
      const from = this.#fileOf(source.file, one.specifier);
      if (from !== undefined)
        this.#reExports.push({ file: source.file, from, exported: one.exported, name: one.name });
    }
  }

  /** Reads `files` once more, if there is anything to look for. Tests may use what is deprecated: somebody has to. */
  async report(files: readonly string[], report: ReportBuilder, memory: MemoryRelief): Promise<void> {
    if (this.#deprecated.size === 0) return;
    this.#passOn();
    const names = [...new Set([...this.#deprecated.values()].flatMap((marks) => [...marks.keys()]))];
    for (const file of files) {
      if (isAside(file)) continue;
      const read = readSource(this.#root, file);
      if ('skipped' in read) continue;
      const { source } = read;
      if (!names.some((name) => name === 'default' || source.text.includes(name))) continue;
      for (const finding of await findingsOf(source, this.#usesIn(source))) report.add(finding);
      await memory.parsed(read.bytes);
    }
  }

  /** What is passed on is deprecated under its new name, too. */
  #passOn(): void {
    for (let isNew = true; isNew; ) {
      isNew = false;
      for (const { file, exported, from, name } of this.#reExports) {
        for (const [known, mark] of this.#deprecated.get(from) ?? []) {
          if (name !== '*' && name !== known) continue;
          const under = name === '*' ? known : exported;
          if (under === 'default' && name === '*') continue;
          const own = this.#deprecated.get(file) ?? new Map<string, string>();
          if (own.has(under)) continue;
          this.#deprecated.set(file, own.set(under, mark));
          isNew = true;
        }
      }
    }
  }

  #usesIn(source: SourceText): Defect[] {
    const script = parseScript(source);
    if ('unparsable' in script) return [];
    const { staticImports } = script.module;
    const passedOn = new Set(reExportsOf(script.module).map(({ specifier, name }) => `${name} ${specifier}`));
    return staticImports.flatMap(({ moduleRequest, entries }) => {
      const from = entries.length === 0 ? undefined : this.#fileOf(source.file, moduleRequest.value);
      const marks: Deprecations | undefined = from === undefined ? undefined : this.#deprecated.get(from);
      if (marks === undefined) return [];
      return entries.flatMap(({ importName, localName }) => {
        const name = `${importName.kind}` === 'Default' ? 'default' : importName.name;
        const mark = name === null ? undefined : marks.get(name);
        if (mark === undefined || passedOn.has(`${name} ${moduleRequest.value}`)) return [];
        const message = `${localName.value} is marked @deprecated in ${from}${mark === '' ? '' : `: ${mark}`}`;
        return [{ rule: DEPRECATED_USE, offset: importName.start ?? localName.start, message }];
      });
    });
  }

  #fileOf(file: string, specifier: string): string | undefined {
    const target = this.#resolver.resolve(file, specifier);
    return typeof target === 'object' ? target.file : undefined;
  }
}

interface PassedOn {
  readonly specifier: string;
  readonly exported: string;
  readonly name: string;
}

/** `export { a } from` and `export * from`; the parser takes `import { a } from` with `export { a }` for the first. */
function reExportsOf({ staticExports }: EcmaScriptModule): PassedOn[] {
  return staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest, importName, exportName }): PassedOn[] => {
      const { kind, name } = importName;
      if (moduleRequest === null) return [];
      if (`${kind}` === 'AllButDefault')
        return [{ specifier: moduleRequest.value, exported: '*', name: '*' }];
      if (`${kind}` === 'All' || name === null) return [];
      return [{ specifier: moduleRequest.value, exported: exportName.name ?? 'default', name }];
    }),
  );
}
