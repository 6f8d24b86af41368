/**
 * Draws every state machine of this repository on docs/machines.md: npm run docs:machines
 *
 * A machine that `*.machine.ts` exports stands there with what is said of it in the source; those of the planets, which are
 * made of their tools, with what their cards say.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { drawMachine } from 'orrery/machines';
import type { AnyActorLogic, AnyStateMachine } from 'xstate';
import { auditPlanets } from '../apps/audit/audit-planets.ts';
import { isMachine } from '../runtime/upgrade/state-identity.ts';

export const PAGE = 'docs/machines.md';
const ROOT = new URL('../', import.meta.url);
const PLANETS_MADE_IN = 'apps/audit/planet.machine.ts';

const HEAD = [
  '# State machines',
  '',
  'Every state machine of this repository, as its code defines it. `npm run docs:machines` writes this page, and a test compares',
  'it. `orrery agents --machine ID` prints one of these, or that of an agent of yours; `drawMachine` of `orrery/machines` is the',
  'same from code.',
  '',
  'An arrow says `event [guard] / actions`. In a box stand tags, what is invoked, `entry` and `exit` actions, and events that',
  'change no state. A state with states in it is a frame, and `any state` in it stands for each of them.',
  '',
].join('\n');

interface Section {
  readonly machine: AnyStateMachine;
  readonly file: string;
  readonly about: string;
}

/** The files below these folders that define machines, but for those of tests. */
export const machineFiles = (): string[] =>
  ['runtime', 'actors', 'apps'].flatMap((folder) =>
    readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
      .filter((path) => path.endsWith('.machine.ts') && !/\/(node_modules|test)\//.test(path))
      .sort(),
  );

/** The machines that a file exports, by their names there. */
export async function machinesIn(file: string): Promise<readonly (readonly [string, AnyStateMachine])[]> {
  const exported = (await import(new URL(file, ROOT).href)) as Record<string, unknown>;
  return Object.entries(exported).flatMap(([name, value]) =>
    isMachine(value as AnyActorLogic) ? [[name, value as AnyStateMachine] as const] : [],
  );
}

/** The whole page, made anew. */
export async function machinesPage(): Promise<string> {
  const sections: Section[] = [];
  for (const file of machineFiles())
    for (const [name, machine] of await machinesIn(file))
      sections.push({ machine, file, about: saidOf(name, readFileSync(new URL(file, ROOT), 'utf8')) });
  const drawn = new Set(sections.map(({ machine }) => machine.id));
  const planets = (await auditPlanets()).flatMap(({ options, actorLogic }): Section[] =>
    isMachine(actorLogic) && !drawn.has(actorLogic.id)
      ? [{ machine: actorLogic, file: PLANETS_MADE_IN, about: `${options.name}. ${options.description}.` }]
      : [],
  );
  return [HEAD, ...sections.sort(byId).map(textOf), ...planets.sort(byId).map(textOf)].join('\n');
}

const byId = (one: Section, other: Section): number => (one.machine.id < other.machine.id ? -1 : 1);

const FENCE = '```';

const textOf = ({ machine, file, about }: Section): string =>
  [
    `## ${machine.id}`,
    '',
    `[${file}](../${file})`,
    '',
    ...(about === '' ? [] : [about, '']),
    `${FENCE}mermaid`,
    `${drawMachine(machine)}${FENCE}`,
    '',
  ].join('\n');

/** The first paragraph of what stands above an export. */
function saidOf(name: string, source: string): string {
  const before = source.split(`export const ${name} `)[0]?.trimEnd() ?? '';
  if (!before.endsWith('*/')) return '';
  const comment = before.slice(before.lastIndexOf('/**') + 3, -2);
  const lines = comment.split('\n').map((line) => line.replace(/^\s*\*? ?/, '').trimEnd());
  const text = lines.join('\n').trim().split('\n\n')[0] ?? '';
  return text.replace(/\s*\n(?!- )\s*/g, ' ');
}

if (import.meta.main) writeFileSync(new URL(PAGE, ROOT), await machinesPage());
