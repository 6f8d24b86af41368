import { type EarlierResult, type Finding, type Note, SEVERITIES } from '@orrery/ralph-loop';
import type { AboutMission } from '../planet.ts';

/** How many counts of each kind are listed, the largest first. */
const LISTED = 10;

/** NEPTUNE's report: numbers of findings by severity, area, file, rule and tool, and the time of each task. */
export function countFindings(results: readonly EarlierResult[]): AboutMission {
  const findings = results.flatMap((result) => result.findings);
  const ran = results.filter(({ attempts }) => attempts.length > 0);
  return {
    summary: `${inAll(findings)} ${whatItTook(ran)}`,
    notes: [
      ...counted('findings-by-severity', findings, ({ severity }) => severity, bySeverity),
      ...counted('findings-by-area', findings, ({ file }) => areaOf(file)),
      ...counted('findings-by-file', findings, ({ file }) => file),
      ...counted('findings-by-rule', findings, ({ rule }) => rule),
      ...counted('findings-by-tool', findings, ({ rule }) => rule.split('/')[0] as string),
      ...ran.map((result) => ({ kind: 'duration', reason: durationOf(result) })),
    ],
  };
}

/** The area of a file: its top folder, or the folder of its workspace. */
function areaOf(file: string): string {
  const folders = file.split('/').slice(0, -1);
  const depth = /^(apps|packages|libs|modules|services)$/.test(folders[0] ?? '') ? 2 : 1;
  return folders.length === 0 ? 'the root' : `${folders.slice(0, depth).join('/')}/`;
}

function inAll(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'Nothing was found.';
  const files = new Set(findings.map(({ file }) => file)).size;
  const areas = largestFirst(groupSizes(findings, ({ file }) => areaOf(file)));
  const [most] = areas;
  const where = most === undefined || areas.length === 1 ? '' : `, most of them (${most[1]}) in ${most[0]}`;
  return `${plural(findings.length, 'finding')} in ${plural(files, 'file')}${where}.`;
}

function whatItTook(ran: readonly EarlierResult[]): string {
  const seconds = ran.map((result) => [result.id, tookMs(result) / 1_000] as const);
  const sum = seconds.reduce((all, [, each]) => all + each, 0);
  const [longest] = [...seconds].sort(([, a], [, b]) => b - a);
  const named = longest === undefined ? '' : `, the longest (${longest[0]}) ${longest[1].toFixed(1)}`;
  return `${plural(ran.length, 'task')} took ${sum.toFixed(1)} seconds together${named}.`;
}

const tookMs = ({ attempts }: EarlierResult): number =>
  attempts.reduce((sum, { durationMs }) => sum + durationMs, 0);

function durationOf(result: EarlierResult): string {
  const { id, agent, filesSeen } = result;
  const seen = filesSeen === undefined ? '' : `, ${plural(filesSeen, 'file')} seen`;
  return `${id}${agent === undefined ? '' : ` (${agent})`}: ${(tookMs(result) / 1_000).toFixed(1)} s${seen}`;
}

function counted(
  kind: string,
  findings: readonly Finding[],
  of: (finding: Finding) => string,
  order: (counts: ReadonlyMap<string, number>) => (readonly [string, number])[] = largestFirst,
): Note[] {
  const counts = order(groupSizes(findings, of));
  const listed = counts.slice(0, LISTED).map(([name, count]) => ({ kind, reason: `${name}: ${count}` }));
  const more = counts.length - listed.length;
  return more === 0 ? listed : [...listed, { kind, reason: `${more} more with fewer` }];
}

const groupSizes = (findings: readonly Finding[], of: (finding: Finding) => string): Map<string, number> =>
  new Map([...Map.groupBy(findings, of)].map(([name, those]) => [name, those.length]));

const largestFirst = (counts: ReadonlyMap<string, number>): [string, number][] =>
  [...counts].sort(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1));

const bySeverity = (counts: ReadonlyMap<string, number>): [string, number][] =>
  SEVERITIES.flatMap((severity): [string, number][] => {
    const count = counts.get(severity);
    return count === undefined ? [] : [[severity, count]];
  });

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
