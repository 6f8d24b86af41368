import { cycleMessage } from '../architecture.ts';
import type { Finding } from '../finding.ts';
import { erasedImports } from '../imports/erased-imports.ts';
import { type ImportKind, readImports } from '../imports/read-imports.ts';
import { ImportResolver } from '../imports/resolve-import.ts';
import type { MemoryRelief } from '../memory-relief.ts';
import { readWithin } from './read-within.ts';

const TRAILED = /^architecture\./;
const CYCLE = /^architecture\.(lazy-)?cycle$/;
/** Circles share files; past this many the files are read again. */
const MAX_REMEMBERED = 5_000;

interface PlacedImport {
  readonly to: string;
  readonly kind: ImportKind;
  readonly line: number;
  readonly column: number;
}

/** Checks that each step of a finding's trail is an import, by reading the files of the trail again. */
export class TrailCheck {
  readonly #root: string;
  readonly #memory: MemoryRelief;
  readonly #resolver: ImportResolver;
  readonly #imports = new Map<string, readonly PlacedImport[]>();

  /** `root` is a real path. */
  constructor(root: string, memory: MemoryRelief) {
    this.#root = root;
    this.#memory = memory;
    this.#resolver = new ImportResolver(root);
  }

  /** What is wrong with the finding's trail, if it has to have one. */
  async fault(finding: Finding): Promise<string | undefined> {
    if (!TRAILED.test(finding.rule)) return finding.trail && `${finding.rule} has no trail`;
    const { trail = [] } = finding;
    const [first, last] = [trail[0], trail.at(-1)];
    const isCycle = CYCLE.test(finding.rule);
    if (trail.length < 2) return 'its trail names no two files';
    if (isCycle && first !== last) return 'its trail does not end where it began';
    if (trail.at(-2) !== finding.file) return 'its file does not close its trail';
    return (
      (isCycle ? wordsFault(finding, cycleMessage(trail)) : undefined) ??
      (await this.#stepsFault(finding, trail))
    );
  }

  async #stepsFault(finding: Finding, trail: readonly string[]): Promise<string | undefined> {
    const kinds: ImportKind[] = [];
    for (const [index, from] of trail.slice(0, -1).entries()) {
      const to = trail[index + 1] as string;
      const imports = (await this.#importsOf(from)).filter((one) => one.to === to);
      const kind = strongest(imports);
      if (kind === undefined) return `${from} does not import ${to}`;
      kinds.push(kind);
      const isLast = index === trail.length - 2;
      if (isLast && !imports.some(({ line, column }) => line === finding.line && column === finding.column)) {
        return `line ${finding.line} does not import ${to}`;
      }
    }
    return kindFault(finding.rule, kinds);
  }

  async #importsOf(file: string): Promise<readonly PlacedImport[]> {
    const known = this.#imports.get(file);
    if (known !== undefined) return known;
    const imports = await this.#read(file);
    if (this.#imports.size >= MAX_REMEMBERED) this.#imports.clear();
    this.#imports.set(file, imports);
    return imports;
  }

  async #read(file: string): Promise<readonly PlacedImport[]> {
    const read = readWithin(this.#root, file);
    if ('fault' in read) return [];
    const { source } = read;
    const found = readImports(source);
    if ('unparsable' in found) return [];
    const erased = new Set(
      erasedImports(
        source,
        found.imports.filter(({ kind }) => kind === 'static').map(({ offset }) => offset),
      ),
    );
    await this.#memory.parsed(2 * source.text.length);
    return found.imports.flatMap(({ specifier, offset, kind }) => {
      const target = this.#resolver.resolve(file, specifier);
      if (typeof target === 'string') return [];
      return [{ to: target.file, kind: erased.has(offset) ? 'type' : kind, ...source.positionAt(offset) }];
    });
  }
}

const wordsFault = ({ message }: Finding, expected: string): string | undefined =>
  message === expected ? undefined : 'its message does not name its trail';

/** Of several imports of one file the one that surely loads it counts. */
const strongest = (imports: readonly PlacedImport[]): ImportKind | undefined =>
  (['static', 'lazy', 'type'] as const).find((kind) => imports.some((one) => one.kind === kind));

function kindFault(rule: string, kinds: readonly ImportKind[]): string | undefined {
  const isLazy = kinds.includes('lazy');
  const isType = kinds.includes('type');
  if (CYCLE.test(rule) && isType) return 'its trail runs through an import of types';
  if (rule === 'architecture.cycle' && isLazy) return 'its trail runs through an import()';
  if (rule === 'architecture.lazy-cycle' && !isLazy) return 'its trail runs through no import()';
  return undefined;
}
