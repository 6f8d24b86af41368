import { defineConfig } from 'vitest/config';

const conditions = ['orrery-source', 'module', 'node', 'import', 'default'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    environment: 'node',
    pool: 'forks',
    execArgv: ['--conditions=orrery-source'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    passWithNoTests: false,
    reporters: ['default', './.ci/closing-line-reporter.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/{unit,property,conformance}/**/*.test.ts', 'apps/*/test/unit/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/fixtures/**'],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/{integration,chaos}/**/*.test.ts', 'apps/*/test/integration/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/fixtures/**'],
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
