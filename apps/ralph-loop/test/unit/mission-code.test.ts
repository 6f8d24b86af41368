import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { branchNameFault } from '../../mission/branch-name-fault.ts';
import { backendProgram } from '../../mission/mission.ts';
import { MissionError } from '../../mission/mission-error.ts';
import { namedVariables } from '../../mission/named-variables.ts';
import { parseMission } from '../../mission/read-mission.ts';

const gate = { name: 'test', run: 'npm test' };

const mission = (over: Record<string, unknown> = {}) => ({
  version: 1,
  name: 'shop',
  code: { gates: [gate] },
  limits: { maxAttempts: 2 },
  tasks: [{ id: 'total', title: 'Total' }],
  ...over,
});

const faultsOf = (value: unknown): readonly string[] => {
  try {
    parseMission(JSON.stringify(value), 'm.json');
    return [];
  } catch (error) {
    if (error instanceof MissionError) return error.faults;
    throw error;
  }
};

describe('a mission that changes the repository', () => {
  it('gives its tasks the capability code.change where they name none', () => {
    const tasks = [
      { id: 'total', title: 'Total' },
      { id: 'types', title: 'Types', capability: 'types.check' },
      { id: 'both', title: 'Both', requiredCapabilities: ['a.b', 'c.d'] },
    ];
    const read = parseMission(JSON.stringify(mission({ tasks })), 'm.json');
    expect(read.tasks).toEqual([{ ...tasks[0], capability: 'code.change' }, ...tasks.slice(1)]);
  });

  it('may say where its schema is, which is not looked at', () => {
    expect(parseMission(JSON.stringify(mission({ $schema: './m.json' })), 'm.json')).not.toHaveProperty(
      '$schema',
    );
  });

  const refused: readonly [string, Record<string, unknown>, readonly string[]][] = [
    [
      'with fields of code on other tasks',
      {
        tasks: [
          {
            id: 'a',
            title: 'A',
            capability: 'x.y',
            gates: [gate],
            touches: ['a'],
            protect: ['b'],
            permission: 'run',
          },
        ],
      },
      ['gates', 'touches', 'protect', 'permission'].map(
        (name) => `tasks[0].${name}: only for tasks whose capability is code.change, found x.y`,
      ),
    ],
    [
      'without the field code',
      { code: undefined, tasks: [{ id: 'a', title: 'A', capability: 'code.change', gates: [gate] }] },
      ['tasks[0].capability: "code.change" needs the field code of the mission, which is missing'],
    ],
    [
      'without any gate',
      {
        code: {},
        tasks: [
          { id: 'a', title: 'A' },
          { id: 'b', title: 'B', gates: [gate] },
        ],
      },
      [
        "tasks[0].gates: expected at least one gate, here or in code.gates: an agent's word that it is done is not enough",
      ],
    ],
    [
      'with two gates of one name',
      { code: { gates: [gate, gate] }, tasks: [{ id: 'a', title: 'A', gates: [gate] }] },
      [
        'code.gates[1].name: "test" is already the name of a gate',
        'tasks[0].gates[0].name: "test" is already the name of a gate',
      ],
    ],
    [
      'with a branch that git refuses',
      { code: { gates: [gate], branch: 'a..b' } },
      ['code.branch: expected single dots, has "..", found "a..b"'],
    ],
    [
      'with a task for several agents that is also a change',
      { tasks: [{ id: 'a', title: 'A', requiredCapabilities: ['code.change', 'x.y'] }] },
      ['tasks[0].requiredCapabilities: expected code.change alone or not at all: one agent has a worktree'],
    ],
    [
      'with misspelt fields',
      { code: { gates: [{ name: 'a', run: 'b', test: 1 }], protects: [] } },
      [
        'code.gates[0].test: unknown field with value 1; did you mean "tests"?',
        'code.protects: unknown field with value []; did you mean "protect"?',
      ],
    ],
    [
      'with a command that is none',
      { code: { gates: [{ name: 'a', run: 3 }] } },
      ['code.gates[0].run: expected a line for the shell, or a list of a program and its arguments, found 3'],
    ],
    [
      'with a coding agent that is not known and has no command',
      { code: { gates: [gate], backends: [{ id: 'clade', env: ['A_KEY'] }] } },
      ['code.backends[0].id: without a command, expected claude, codex, gemini or opencode, found "clade"'],
    ],
    [
      'with a protocol for a program that is known by its id',
      { code: { gates: [gate], reviewers: ['codex', { id: 'gemini', acp: true }] } },
      ['code.reviewers[1].acp: expected only beside a command, which speaks the protocol, found true'],
    ],
    [
      'with names of variables that are none',
      {
        code: {
          setup: { run: 'npm ci', passEnv: ['NPM TOKEN'] },
          gates: [{ ...gate, passEnv: ['$TOKEN'] }],
          backends: [
            { id: 'claude', env: 'A_KEY' },
            { id: 'acme', command: ['acme'], env: ['A_KEY=1', '2'] },
          ],
        },
      },
      [
        'code.setup.passEnv[0]: expected a name of a variable, found "NPM TOKEN"',
        'code.gates[0].passEnv[0]: expected a name of a variable, found "$TOKEN"',
        'code.backends[0].env: expected array, found "A_KEY"',
        'code.backends[1].env[0]: expected a name of a variable, found "A_KEY=1"',
        'code.backends[1].env[1]: expected a name of a variable, found "2"',
      ],
    ],
    [
      'with misspelt fields of an agent and of the setup',
      {
        code: {
          gates: [gate],
          setup: { run: 'npm ci', env: ['NPM_TOKEN'] },
          backends: [{ id: 'acme', comand: ['acme'] }],
        },
      },
      [
        'code.setup.env: unknown field with value ["NPM_TOKEN"]',
        'code.backends[0].comand: unknown field with value ["acme"]; did you mean "command"?',
        'code.backends[0].id: without a command, expected claude, codex, gemini or opencode, found "acme"',
      ],
    ],
    [
      'with an agent and a setup that are neither',
      { code: { gates: [gate], setup: 3, backends: ['clade', 7] } },
      [
        'code.setup: expected a line for the shell, a list of a program and its arguments, or an object with run and passEnv, found 3',
        'code.backends[0]: expected claude, codex, gemini, opencode, or an object with id and command, found "clade"',
        'code.backends[1]: expected claude, codex, gemini, opencode, or an object with id and command, found 7',
      ],
    ],
    [
      'with faults of code and of the graph at once',
      { code: { branch: '-x' }, tasks: [{ id: 'a', title: 'A', gates: [gate], dependsOn: ['b'] }] },
      [
        'tasks[0].dependsOn[0]: no task has the id "b"; did you mean "a"?',
        'code.branch: expected a name that does not begin with "-", found "-x"',
      ],
    ],
  ];

  it.each(refused)('is refused %s', (_, over, faults) => {
    expect(faultsOf(mission(over))).toEqual(faults);
  });
});

describe('the variables that a mission names', () => {
  it('are told with their fields and the programs that they are for', () => {
    const read = parseMission(
      JSON.stringify(
        mission({
          code: {
            setup: { run: 'npm ci', passEnv: ['NPM_TOKEN'] },
            gates: [gate, { name: 'e2e', run: 'e2e', passEnv: ['E2E_KEY'] }],
            backends: ['codex', { id: 'claude', env: ['A_KEY', 'B_KEY'] }],
            reviewers: [{ id: 'acme', command: ['acme', '--acp'], acp: true, env: ['ACME_KEY'] }],
          },
          tasks: [{ id: 'total', title: 'Total', gates: [{ name: 'more', run: 'x', passEnv: ['C_KEY'] }] }],
        }),
      ),
      'm.json',
    );
    expect(namedVariables(read)).toEqual([
      { name: 'NPM_TOKEN', field: 'code.setup.passEnv[0]', of: 'the setup' },
      { name: 'E2E_KEY', field: 'code.gates[1].passEnv[0]', of: 'gate e2e' },
      { name: 'A_KEY', field: 'code.backends[1].env[0]', of: 'agent claude', backend: 'claude' },
      { name: 'B_KEY', field: 'code.backends[1].env[1]', of: 'agent claude', backend: 'claude' },
      { name: 'ACME_KEY', field: 'code.reviewers[0].env[0]', of: 'reviewer acme' },
      { name: 'C_KEY', field: 'tasks[0].gates[0].passEnv[0]', of: 'gate more' },
    ]);
    expect(read.code?.backends?.map(backendProgram)).toEqual([
      { known: 'codex', env: [] },
      { known: 'claude', env: ['A_KEY', 'B_KEY'] },
    ]);
  });
});

describe('the name of a branch', () => {
  const gitTakes = (name: string): boolean =>
    spawnSync('git', ['check-ref-format', `refs/heads/${name}`]).status === 0;

  it('is refused where git refuses it, and nowhere else', { timeout: 120_000 }, () => {
    const part = fc.constantFrom(
      'a',
      'b',
      '.',
      '..',
      '/',
      '-',
      '@',
      '{',
      '.lock',
      ' ',
      '~',
      '\\',
      '[',
      '\u007F',
      'ü',
      ':',
    );
    const names = fc
      .array(part, { minLength: 1, maxLength: 5 })
      .map((parts) => parts.join(''))
      .filter((name) => !name.startsWith('-') && name !== '@');
    fc.assert(
      fc.property(names, (name) => {
        expect(branchNameFault(name) === undefined).toBe(gitTakes(name));
      }),
    );
  });

  it.each(['@', 'HEAD', '-a', ''])('is refused where git would mean something else by it: "%s"', (name) => {
    expect(branchNameFault(name)).toBeTypeOf('string');
  });
});
