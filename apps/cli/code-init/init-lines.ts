import { backendProgram, type MissionBackend, table } from '@orrery/ralph-loop';
import { resolve } from 'node:path';
import { BACKENDS } from 'orrery/coding';
import type { FoundGates } from './found-gates.ts';
import type { RepositoryFacts } from './repository-facts.ts';

/**
 * What there is to say of a mission that was written.
 *
 * - `missions` in other formats, which it is the defaults for.
 * - `lacks`    what is not as it should be, in sentences.
 */
interface Written {
  readonly backend: MissionBackend;
  readonly facts: RepositoryFacts;
  readonly found: FoundGates;
  readonly missions: readonly string[];
  readonly file: string;
  readonly lacks: readonly string[];
}

/** Says what was found, what was not, what was written, and what to do next. */
export function initLines({ facts, found, missions, file, backend, lacks }: Written): string[] {
  const { toolchains, setup, gates, protect } = found;
  const rows = [
    ...toolchains.map(({ id, found: by }) => [id, by.join(', ')]),
    ...missions.map((path) => ['tasks', path]),
    ...(setup === undefined ? [] : [['setup', setup]]),
    ...gates.map(({ name, run, tests }) => [
      `gate ${name}`,
      `${String(run)}${tests === undefined ? '' : '   (its tests are counted)'}`,
    ]),
    ['agent', agentText(backend)],
  ];
  const isElsewhere = resolve('.') !== resolve(facts.root);
  const which = missions.length > 1 ? ' FILE' : '';
  return [
    `${facts.root}, a git repository on ${facts.base}`,
    '',
    'Found:',
    ...table(rows, '  '),
    ...(lacks.length === 0 ? [] : ['', 'Not as it should be:', ...lacks.map((lack) => `  ${lack}`)]),
    '',
    `Written: ${file}`,
    `  No task may change ${protect.join(', ')}:`,
    '  they decide what the gates run, what setup installs, what is checked elsewhere, and what there is to do.',
    '',
    'Now:',
    ...table(
      [
        ...(isElsewhere ? [[`cd ${facts.root}`, '']] : []),
        ...(missions.length === 0 ? [[`edit ${file}`, 'puts your tasks in the place of the example']] : []),
        ['orrery doctor', 'says whether the agent is there and logged in'],
        [
          `orrery check${which}`,
          'says what would be done and what it comes to at worst; it starts nothing and costs nothing',
        ],
        [`orrery run${which}`, 'does it'],
      ],
      '  ',
    ),
  ];
}

function agentText(backend: MissionBackend): string {
  const program = backendProgram(backend);
  return program.known === undefined ? program.command.join(' ') : BACKENDS[program.known].name;
}
