import { type Cycle, cutCycles, edgesInCycles } from './cycles.ts';
import { type Defect, findingsOf } from './evidence.ts';
import type { AuditReport } from '../findings/finding.ts';
import { ImportGraph } from './import-graph.ts';
import { erasedImports } from './imports/erased-imports.ts';
import { readImports } from './imports/read-imports.ts';
import { ImportResolver } from './imports/resolve-import.ts';
import { findLayerBreaches, type Layer } from './layers.ts';
import { listFiles } from './list-files.ts';
import { MemoryRelief } from './memory-relief.ts';
import type { ProgressCounter } from './progress-counter.ts';
import { readSource } from '../findings/read-source.ts';
import { ReportBuilder } from './report-builder.ts';
import { isScript } from './syntax/parse-script.ts';

/** The files of all circles together; a report of circles through everything helps nobody and fills memory. */
const MAX_TRAIL_FILES = 100_000;

export interface ArchitectureOptions {
  readonly layers: readonly Layer[];
  readonly progress: ProgressCounter;
}

/** JUPITER's job: circles of imports, and imports across layers where rules are given. `root` is a real path. */
export async function auditArchitecture(root: string, options: ArchitectureOptions): Promise<AuditReport> {
  using memory = new MemoryRelief();
  const report = new ReportBuilder();
  const graph = await readGraph({ root, report, memory, progress: options.progress });
  // Before the circles are cut, which takes imports out of the graph.
  const breaches = breachDefects(graph, options.layers);
  await removeErased({ root, memory, graph });
  const defects = Map.groupBy([...breaches, ...cycleDefects(graph, report)], ({ file }) => file);
  for (const [file, ofFile] of defects) {
    // Read once more: the graph keeps no texts.
    const read = readSource(root, file);
    if ('skipped' in read) report.note(read.skipped, read.reason, file);
    else for (const finding of await findingsOf(read.source, ofFile)) report.add(finding);
  }
  return report.build();
}

type PlacedDefect = Defect & { readonly file: string };

interface Reading {
  readonly root: string;
  readonly report: ReportBuilder;
  readonly memory: MemoryRelief;
  readonly progress: ProgressCounter;
}

async function readGraph({ root, report, memory, progress }: Reading): Promise<ImportGraph> {
  const graph = new ImportGraph();
  const resolver = new ImportResolver(root);
  const note = report.note.bind(report);
  const files = [...listFiles(root, { note })].filter(({ path }) => isScript(path));
  if (files.length === 0) note('empty', 'there is no JavaScript or TypeScript to look at');
  progress.expect(files.length);
  for (const { path } of files) {
    progress.advance();
    const read = readSource(root, path);
    if ('skipped' in read) {
      note(read.skipped, read.reason, path);
      continue;
    }
    report.saw(read.bytes);
    await memory.parsed(read.bytes);
    const found = readImports(read.source);
    if ('unparsable' in found) {
      note('unparsable', found.unparsable, path);
      continue;
    }
    for (const { specifier, ...place } of found.imports) {
      const target = resolver.resolve(path, specifier);
      if (target === 'nowhere') note('import-to-nowhere', `imports ${specifier}, which is not there`, path);
      else if (target !== 'outside') graph.add(path, target.file, place);
    }
  }
  return graph;
}

const breachDefects = (graph: ImportGraph, layers: readonly Layer[]): PlacedDefect[] =>
  findLayerBreaches(graph, layers).map(({ edge, message }) => ({
    file: graph.nameOf(edge.from),
    rule: edge.kind === 'type' ? 'architecture.layer-type' : 'architecture.layer',
    offset: edge.offset,
    message,
    trail: [graph.nameOf(edge.from), graph.nameOf(edge.to)],
  }));

/** Whether an import survives the compiler costs a walk through its file, so only those in circles are asked about. */
async function removeErased({
  root,
  memory,
  graph,
}: Pick<Reading, 'root' | 'memory'> & { graph: ImportGraph }) {
  for (const [from, edges] of Map.groupBy(edgesInCycles(graph), (edge) => edge.from)) {
    const read = readSource(root, graph.nameOf(from));
    if ('skipped' in read) continue;
    const erased = new Set(
      erasedImports(
        read.source,
        edges.map(({ offset }) => offset),
      ),
    );
    for (const edge of edges) if (erased.has(edge.offset)) graph.remove(edge);
    await memory.parsed(read.bytes);
  }
}

function cycleDefects(graph: ImportGraph, report: ReportBuilder): PlacedDefect[] {
  const { cycles, tangles } = cutCycles(graph);
  if (tangles > 0)
    report.note('tangle', `${tangles} groups of files import each other in more circles than are listed`);
  let files = 0;
  return cycles.flatMap((cycle) => {
    files += cycle.edges.length;
    if (files <= MAX_TRAIL_FILES) return [cycleDefect(graph, cycle)];
    report.note('tangle', `a circle of ${cycle.edges.length} files is too long to list with the others`);
    return [];
  });
}

function cycleDefect(graph: ImportGraph, { edges }: Cycle): PlacedDefect {
  const [first] = edges;
  const closing = edges.at(-1);
  if (first === undefined || closing === undefined) throw new Error('a cycle without imports');
  const trail = [graph.nameOf(first.from), ...edges.map(({ to }) => graph.nameOf(to))];
  const isLazy = edges.some(({ kind }) => kind === 'lazy');
  return {
    file: graph.nameOf(closing.from),
    rule: isLazy ? 'architecture.lazy-cycle' : 'architecture.cycle',
    offset: closing.offset,
    message: cycleMessage(trail),
    trail,
  };
}

const SHOWN_FILES = 8;

/** The circle in words; of a long one the beginning and the end. */
export function cycleMessage(trail: readonly string[]): string {
  if (trail.length <= SHOWN_FILES + 2) return `Circle of imports: ${trail.join(' -> ')}`;
  const shown = [...trail.slice(0, SHOWN_FILES), '…', ...trail.slice(-2)];
  return `Circle of ${trail.length - 1} imports: ${shown.join(' -> ')}`;
}
