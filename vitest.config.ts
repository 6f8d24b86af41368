import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './.ci/longest-first.ts';
import { RequirementsReporter } from './.ci/requirements-reporter.ts';

// Half of what starting a thread or a process from source costs is making JavaScript of it: made once, it is kept.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
  new URL('./node_modules/.cache/node-compile', import.meta.url),
);

/** The sources as they are. What is imported and what is required is found without a word here: packages have a file for each. */
const sources = ['orrery-source', 'module', 'node'];
const onSources = {
  resolve: { conditions: sources },
  ssr: { resolve: { conditions: sources, externalConditions: sources } },
};
/** The package as it is built: threads and processes start from few files, and what is tested is what people get. */
const built = {
  globalSetup: 'test/fixtures/built-package.ts',
  server: { deps: { external: [/\/dist\/.*\.js$/] } },
};

/** Threads that live for a second only spend a sixth of it on collecting a young generation that begins small. */
const execArgv = ['--min-semi-space-size=16'];

/** What promises memory, or takes all that there is, and is to have the machine to itself. */
const ALONE = ['test/integration/{floods,one-core,out-of-memory}.test.ts'];

/** What puts faults or parts of its own into a running system, or counts its modules or calls: it needs the sources. */
const INSIDE = [
  'test/integration/{simulation,simulation-escapes,simulation-global-reads,simulated-*,channel-leaks}.test.ts',
  'test/integration/{budgets,budget-deaths,negotiation-agent,start-up,way-of-a-message,way-of-an-envelope}.test.ts',
];

/** What is true of the package as it is packed and installed, which is done once for all of them. */
const PACKAGE = 'test/integration/package/**/*.test.ts';

/** Test files at a time, on two cores: most of them wait for threads and processes most of the time. */
const WAITING = 4;

export default defineConfig({
  test: {
    environment: 'node',
    pool: 'forks',
    // What gets on is waited for, on a machine of any speed: these limits find what hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    passWithNoTests: false,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new RequirementsReporter(), './.ci/closing-line-reporter.ts'],
    projects: [
      {
        extends: true,
        ...onSources,
        test: {
          name: 'unit',
          execArgv: ['--conditions=orrery-source'],
          // A quarter of their time went into loading the same modules for each file.
          isolate: false,
          include: ['test/{unit,property,conformance}/**/*.test.ts', 'apps/*/test/unit/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/fixtures/**'],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'package',
          include: [PACKAGE],
          globalSetup: 'test/fixtures/packed-package.ts',
          maxWorkers: WAITING,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...built,
          name: 'integration',
          execArgv,
          include: ['test/{integration,chaos}/**/*.test.ts', 'apps/*/test/integration/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/fixtures/**', ...ALONE, ...INSIDE, PACKAGE],
          maxWorkers: WAITING,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        ...onSources,
        test: {
          name: 'inside',
          include: INSIDE,
          execArgv: ['--conditions=orrery-source', ...execArgv],
          maxWorkers: WAITING,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...built,
          name: 'alone',
          include: ALONE,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
