import { backendProgram, type MissionBackend, type PlacedDefaults } from '@orrery/ralph-loop';
import { BACKENDS } from 'orrery/coding';
import type { FoundGates } from './found-gates.ts';
import type { PlainData } from './yaml-text.ts';

/** - `branch` that accepted changes are merged into. - `base` where it begins. */
export interface CodingPlace {
  readonly name: string;
  readonly branch: string;
  readonly base: string;
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** A mission for a coding agent, with one task that is an example. */
export function codingMission(
  backend: MissionBackend,
  found: FoundGates,
  { name, branch, base }: CodingPlace,
): { readonly [field: string]: PlainData } {
  const { version, code, limits } = codingDefaults(backend, found);
  return plain({
    version,
    name,
    code: { branch, base, ...code },
    limits,
    tasks: [
      {
        id: 'replace-me',
        title: 'An example to be replaced: write EXAMPLE.md',
        description:
          'Read the repository, and write a file EXAMPLE.md of at most ten lines that says what it is for. Change nothing else.',
        touches: ['EXAMPLE.md'],
        acceptance: ['EXAMPLE.md is there and has at most ten lines.', 'No other file has changed.'],
      },
    ],
  });
}

/** What missions of other formats get from the defaults of the repository. */
export function codingDefaults(
  backend: MissionBackend,
  { setup, gates, protect }: FoundGates,
): PlacedDefaults['defaults'] {
  const caps = capsOf(backend);
  return {
    version: 1,
    code: {
      ...(setup === undefined ? {} : { setup }),
      gates: [...gates],
      protect: [...protect],
      permission: 'edit',
      limits: { timeoutMs: 30 * MINUTE_MS, ...caps.ofTask },
      backends: [backend],
    },
    limits: {
      maxAttempts: 3,
      maxFailuresInARow: 9,
      timeoutMs: 4 * HOUR_MS,
      maxParallel: 2,
      ...caps.ofMission,
    },
  };
}

/** Limits of what the program tells. With a limit of what it does not tell it would not be started. */
function capsOf(backend: MissionBackend) {
  const { known } = backendProgram(backend);
  if (known === undefined) return { ofTask: {}, ofMission: {} };
  const { tells } = BACKENDS[known];
  const pick = (tokens: number, costUsd: number) => ({
    ...(tells.includes('tokens') ? { maxTokens: tokens } : {}),
    ...(tells.includes('costUsd') ? { maxCostUsd: costUsd } : {}),
  });
  return { ofTask: pick(10_000_000, 3), ofMission: pick(40_000_000, 10) };
}

/** Why the fields are as they are, for whoever reads the file. */
export const REASONS: Readonly<Record<string, string>> = {
  'code.branch': 'Accepted changes are merged into this branch; yours is not touched.',
  'code.setup': 'Run in each new worktree.',
  'code.gates':
    'Run by Orrery, on each change and again on what it is merged into. With "tests", none may fail and at least one has to run.',
  'code.protect':
    'No task may change these: they decide what the gates run, what setup installs, what is checked elsewhere, and what\n' +
    'there is to do. A task that adds a package needs its files taken out. Tests are not protected, because tasks add\n' +
    'some: where those that are there must stay as they are, add "protect" with their folder to the task.',
  'code.permission': 'read, edit files, run commands too, or all.',
  'code.limits': 'Of each task: the time of an attempt, and what all of its attempts may use.',
  limits:
    'Of the whole mission, which also ends when so many attempts in a row come to nothing. Tokens count what is read from\n' +
    'caches, too.',
  tasks: 'An example. Put your own in its place.',
};

/** Without what is undefined: what is written is read again as it is. */
const plain = (value: unknown): { readonly [field: string]: PlainData } =>
  JSON.parse(JSON.stringify(value)) as { readonly [field: string]: PlainData };
