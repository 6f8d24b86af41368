/**
 * What a scenario counted.
 *
 * - `kills`        processes ended by SIGKILL in the middle of what they did, `freezes` those that were stopped and went on.
 * - `restarts`     processes that were started on what such a one had left.
 * - `accepted`     what somebody was told to be accepted, and what came of it.
 * - `unknown`      begun, and nobody can say how it ended.
 * - `appliedTwice` done again after it counted as done.
 * - `gone`         acknowledged, and nothing ever came of it.
 * - `broken`       promises that did not hold, in words; those three figures are among them where they are not 0.
 */
export interface Figures {
  kills: number;
  freezes: number;
  restarts: number;
  accepted: number;
  handled: number;
  rejected: number;
  expired: number;
  deadLettered: number;
  unknown: number;
  appliedTwice: number;
  gone: number;
  seconds: number;
  readonly broken: string[];
  /** How often each kind of moment was hit, and whatever else a reader may want to know. */
  readonly notes: Map<string, number>;
}

const COUNTED = [
  'kills',
  'freezes',
  'restarts',
  'accepted',
  'handled',
  'rejected',
  'expired',
  'deadLettered',
  'unknown',
  'appliedTwice',
  'gone',
  'seconds',
] as const;
type Counted = (typeof COUNTED)[number];

const MUST_BE_ZERO = ['unknown', 'appliedTwice', 'gone'] as const;

const HEADINGS: Readonly<Record<Counted, string>> = {
  kills: 'kills',
  freezes: 'freezes',
  restarts: 'restarts',
  accepted: 'accepted',
  handled: 'handled',
  rejected: 'rejected',
  expired: 'expired',
  deadLettered: 'dead-lettered',
  unknown: 'unknown',
  appliedTwice: 'applied twice',
  gone: 'acknowledged but gone',
  seconds: 'seconds',
};

export const newFigures = (): Figures => ({
  kills: 0,
  freezes: 0,
  restarts: 0,
  accepted: 0,
  handled: 0,
  rejected: 0,
  expired: 0,
  deadLettered: 0,
  unknown: 0,
  appliedTwice: 0,
  gone: 0,
  seconds: 0,
  broken: [],
  notes: new Map(),
});

export function note(figures: Figures, what: string, count = 1): void {
  figures.notes.set(what, (figures.notes.get(what) ?? 0) + count);
}

const MOST_BROKEN = 10;

/** Says whether going on could show anything new: where nothing works any more, nothing is killed either. */
export const isWorthwhile = ({ broken }: Figures): boolean => broken.length < MOST_BROKEN;

/** Every promise that did not hold, the three that are counted included. */
export function brokenPromises(figures: Figures): readonly string[] {
  const counted = MUST_BE_ZERO.filter((name) => figures[name] > 0);
  return [...counted.map((name) => `${HEADINGS[name]}: ${figures[name]}`), ...figures.broken];
}

/** The figures of every scenario, a row each, and their sum. */
export function tableOf(scenarios: ReadonlyMap<string, Figures>): string {
  const rows = [...scenarios].map(([name, figures]) => [
    name,
    ...COUNTED.map((column) => inWords(column, figures[column])),
  ]);
  const sum = ['all', ...COUNTED.map((column) => inWords(column, total([...scenarios.values()], column)))];
  const all = [['', ...COUNTED.map((column) => HEADINGS[column])], ...rows, sum];
  const widths = sum.map((_, at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join('  '),
    )
    .join('\n');
}

const total = (all: readonly Figures[], column: Counted): number =>
  all.reduce((sum, figures) => sum + figures[column], 0);

const inWords = (column: Counted, value: number): string =>
  column === 'seconds' ? value.toFixed(1) : String(value);
