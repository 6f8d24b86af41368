/**
 * Runs one test file of each kind while ten processes burn CPU: `npm run test:loaded`. What waits for events and progress
 * passes on a busy machine too; what waits by the wall clock does not.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const VITEST = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const BURNERS = 10;
/** Ends by itself when whoever started it is gone, even if that was killed. */
const BURN = `const { ppid } = process;
while (process.ppid === ppid) for (let n = 0; n < 1e7; n += 1);`;

const ONE_OF_EACH_KIND = {
  unit: 'test/unit/mailbox/fifo.test.ts',
  property: 'test/property/link.test.ts',
  threads: 'test/integration/answers-across-threads.test.ts',
  processes: 'test/integration/process-agents.test.ts',
  gateway: 'test/integration/gateway-http.test.ts',
  journal: 'test/integration/journal-threads.test.ts',
  simulation: 'test/integration/simulated-journal.test.ts',
  app: 'apps/ralph-loop/test/integration/mission-on-threads.test.ts',
};
const files = Object.values(ONE_OF_EACH_KIND);
// One that has another name now would be left out without a word.
for (const file of files) if (!existsSync(join(ROOT, file))) throw new Error(`There is no ${file}`);

const burners = Array.from({ length: BURNERS }, () =>
  spawn(process.execPath, ['--eval', BURN], { stdio: 'ignore' }),
);
const tests = spawn(process.execPath, [VITEST, 'run', ...files], { cwd: ROOT, stdio: 'inherit' });
process.once('exit', () => {
  for (const child of [...burners, tests]) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => process.exit(128 + constants.signals[signal]));

const [code] = (await once(tests, 'exit')) as [number | null];
const burning = burners.filter(
  ({ pid, exitCode, signalCode }) => pid && exitCode === null && signalCode === null,
);
if (burning.length < BURNERS) throw new Error(`Only ${burning.length} of ${BURNERS} processes burned CPU`);
// It would wait for those that burn.
process.exit(code ?? 1);
