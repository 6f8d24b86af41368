import type { Defect } from '../evidence.ts';
import { MAX_DEFECTS_A_FILE } from '../file-scan.ts';
import type { PlacedDefect } from '../placed-defects.ts';
import type { MarkdownSpec } from './markdown-spec.ts';
import { seriesOf, wholeOf } from './requirement-ids.ts';

/** Different ids that are remembered; a repository with more has other troubles. */
const MAX_IDS = 100_000;
/** Fewer ids in one file make no list of requirements. */
const MIN_SERIES = 3;
/** Histories tell of requirements that are gone. */
const HISTORY = /change|history|release|archive|migration|upgrad/i;

interface Series {
  /** How many of it the file defines that defines most. */
  inFile: number;
  readonly defined: Set<string>;
}

/** Gathers which requirements all specifications define and cite. */
export class Citations {
  readonly #series = new Map<string, Series>();
  readonly #cited = new Map<string, PlacedDefect & { readonly id: string }>();

  add(file: string, { definitions, citations }: MarkdownSpec): void {
    for (const [prefix, ids] of Map.groupBy(definitions, ({ id }) => seriesOf(id))) {
      const series = this.#series.get(prefix) ?? { inFile: 0, defined: new Set() };
      const inFile = new Set(ids.map(({ id }) => id));
      for (const id of inFile) if (series.defined.size < MAX_IDS) series.defined.add(id);
      series.inFile = Math.max(series.inFile, inFile.size);
      this.#series.set(prefix, series);
    }
    for (const defect of citationsWithout(file, { definitions, citations }).slice(0, MAX_DEFECTS_A_FILE)) {
      if (this.#cited.size < MAX_IDS && !this.#cited.has(defect.id))
        this.#cited.set(defect.id, { ...defect, file });
    }
  }

  /** Each id that is cited and never defined, where it is cited first; only of series of which there is a list. */
  undefinedIds(): PlacedDefect[] {
    const suspects = [...this.#cited.values()].flatMap(({ id, ...defect }) => {
      const prefix = seriesOf(id);
      const series = this.#series.get(prefix);
      if (series === undefined || series.inFile < MIN_SERIES || isDefined(id, series.defined)) return [];
      return [{ prefix, series, defect }];
    });
    const counts = Map.groupBy(suspects, ({ prefix }) => prefix);
    return suspects
      .filter(({ prefix, series }) => (counts.get(prefix)?.length ?? 0) < series.defined.size)
      .map(({ defect }) => defect);
  }
}

/** The ids that a file cites and does not define itself, where it does so first: the others may define them. */
export function citationsWithout(
  file: string,
  { definitions, citations }: Pick<MarkdownSpec, 'definitions' | 'citations'>,
): (Defect & { readonly id: string })[] {
  if (HISTORY.test(file)) return [];
  const defined = new Set(definitions.map(({ id }) => id));
  const first = new Map<string, number>();
  for (const { id, offset } of citations)
    if (!first.has(id) && !isDefined(id, defined)) first.set(id, offset);
  return [...first].map(([id, offset]) => ({
    id,
    rule: 'specs.undefined-id',
    offset,
    message: `${id} is cited, and no specification defines it`,
  }));
}

/** A part is defined with its whole: `R-1.2` where `R-1` is. */
function isDefined(id: string, defined: ReadonlySet<string>): boolean {
  for (let at: string | undefined = id; at !== undefined; at = wholeOf(at)) if (defined.has(at)) return true;
  return false;
}
