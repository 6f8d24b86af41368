import type { MissionGate } from '@orrery/ralph-loop';
import { type CommittedFiles, present, type Toolchain } from '../toolchain.ts';
import { countedRunner } from './counted-runner.ts';
import { type PackageManager, packageManagerOf } from './package-manager.ts';

/** The test script that `npm init` writes. */
const PLACEHOLDER = /^echo "Error: no test specified"/;
/** Scripts by the gates that they are; of several names the first that is there. What is quick comes first. */
const SCRIPTS: readonly (readonly [gate: string, names: readonly string[]])[] = [
  ['types', ['typecheck', 'type-check', 'check:types', 'check-types', 'types', 'tsc']],
  ['lint', ['lint']],
  ['build', ['build']],
];
/** Scripts that call scripts are followed so far. */
const MOST_CALLS = 3;

/** A package of Node, with npm, pnpm, yarn or Bun. */
export function nodeToolchain(files: CommittedFiles): Toolchain | undefined {
  if (!files.paths.has('package.json')) return undefined;
  const manifest = recordIn(files.text('package.json'));
  const scripts = stringsIn(manifest['scripts']);
  const manager = packageManagerOf(files, manifest['packageManager']);
  const test = scripts['test'];
  const hasTest = test !== undefined && !PLACEHOLDER.test(test);
  const tested = hasTest ? testGate(scripts, manager) : { gates: [], protect: [], lacks: [] };
  const gates = SCRIPTS.flatMap(([name, names]): MissionGate[] => {
    const script = names.find((one) => scripts[one] !== undefined);
    return script === undefined ? [] : [{ name, run: `${manager.name} run ${script}` }];
  });
  const needsSetup = manager.setup === undefined && hasDependencies(manifest);
  return {
    id: 'node',
    found: ['package.json', ...manager.lockFiles],
    ...(manager.setup === undefined ? {} : { setup: manager.setup }),
    makes: manager.setup === undefined ? [] : ['node_modules'],
    gates: [...gates, ...tested.gates],
    protect: [
      'package.json',
      ...manager.lockFiles,
      ...present(files, 'tsconfig.json', '.npmrc', '.yarnrc.yml', 'pnpm-workspace.yaml', 'bunfig.toml'),
      ...tested.protect,
    ],
    lacks: [
      ...(needsSetup
        ? [
            'No lock file of packages is committed, so there is no setup: worktrees get no packages of their own',
          ]
        : []),
      ...tested.lacks,
    ],
  };
}

type Tested = Pick<Toolchain, 'gates' | 'protect' | 'lacks'>;

function testGate(scripts: Readonly<Record<string, string>>, manager: PackageManager): Tested {
  const whole = followed(scripts, 'test', MOST_CALLS);
  const runner = countedRunner(whole);
  const run = manager.name === 'bun' ? 'bun run test' : `${manager.name} test`;
  return {
    gates: [{ name: 'test', run, ...(runner === undefined ? {} : { tests: true }) }],
    protect: runner?.configuration ?? [],
    lacks:
      runner === undefined
        ? [
            `No test runner whose tests are counted is named in the script "test", so its exit code alone decides; write "tests: true" into the gate if it prints how many have passed`,
          ]
        : [],
  };
}

/** A script with those that it calls. */
function followed(scripts: Readonly<Record<string, string>>, name: string, calls: number): string {
  const text = scripts[name] ?? '';
  if (calls === 0) return text;
  const called = [...text.matchAll(/\b(?:npm|pnpm|yarn|bun)(?: run| --silent| -s)* ([\w:.-]+)/g)];
  return [
    text,
    ...called.map(([, one = '']) => (one === name ? '' : followed(scripts, one, calls - 1))),
  ].join('\n');
}

const hasDependencies = (manifest: Readonly<Record<string, unknown>>): boolean =>
  ['dependencies', 'devDependencies'].some((field) => Object.keys(stringsIn(manifest[field])).length > 0);

function recordIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function stringsIn(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
