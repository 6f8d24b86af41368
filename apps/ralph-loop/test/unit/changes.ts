import type { GateReceipt } from '../../gates/gate-receipt.ts';
import type { Attempt } from '../../loop/attempt.ts';
import type { MissionOutcome } from '../../loop/mission-outcome.ts';
import { newTask, type TaskContext } from '../../loop/task-context.ts';
import type { TaskStatus } from '../../loop/task-status.ts';
import type { TaskView } from '../../loop/why-it-goes-on.ts';
import { workItems } from '../../loop/work-item.ts';
import { parseMission } from '../../mission/read-mission.ts';

/** A mission of three changes and a look at the types. */
export const shop = parseMission(
  JSON.stringify({
    version: 1,
    name: 'shop',
    limits: { maxAttempts: 2 },
    code: {
      gates: [
        { name: 'lint', run: 'npm run lint' },
        { name: 'test', run: ['npm', 'test'], tests: true },
      ],
    },
    tasks: [
      { id: 'login', title: 'Add a login form' },
      { id: 'cart', title: 'Remember the cart' },
      { id: 'search', title: 'Search for things' },
      { id: 'types', title: 'The code compiles', capability: 'types.check' },
    ],
  }),
  'test',
);

const ITEMS = workItems(shop);

export const view = (id: string, status: TaskStatus, over: Partial<TaskContext> = {}): TaskView => {
  const item = ITEMS.find((candidate) => candidate.id === id);
  if (item === undefined) throw new Error(`no item ${id}`);
  return { status, context: { ...newTask({ item, maxAttempts: 2 }), ...over } };
};

export const outcome = (tasks: readonly TaskView[], over: Partial<MissionOutcome> = {}): MissionOutcome => ({
  mission: shop,
  root: '/repo',
  stopReason: 'all-accepted',
  startedAtMs: 1_000,
  endedAtMs: 65_000,
  assigner: 'sun',
  gate: 'mercury',
  tasks,
  code: { branch: 'orrery/shop', base: 'b'.repeat(40) },
  ...over,
});

export const attempt = (over: Partial<Attempt> = {}): Attempt => ({
  agent: 'claude',
  place: 'host',
  number: 1,
  startedAtMs: 1_000,
  durationMs: 30_000,
  gateMs: 2_000,
  ended: 'accepted',
  ...over,
});

export const receipt = (over: Partial<GateReceipt> = {}): GateReceipt => ({
  gate: 'lint',
  command: 'npm run lint',
  exitCode: 0,
  timedOut: false,
  passed: true,
  durationMs: 1_200,
  logFile: '/repo/.orrery/logs/r1/login/merge-1/1-lint.log',
  logBytes: 10,
  logSha256: '0'.repeat(64),
  why: 'exit code 0',
  ...over,
});

export const tested = (over: Partial<GateReceipt> = {}): GateReceipt =>
  receipt({
    gate: 'test',
    command: 'npm test',
    tests: { passed: 12, failed: 0, skipped: 0, by: 'vitest' },
    why: 'exit code 0, 12 tests passed',
    logFile: '/repo/.orrery/logs/r1/login/merge-1/2-test.log',
    ...over,
  });

export const refused = (over: Partial<GateReceipt> = {}): GateReceipt =>
  tested({
    exitCode: 1,
    passed: false,
    tests: { passed: 10, failed: 2, skipped: 0, by: 'vitest' },
    why: 'exit code 1; 2 of 12 tests failed',
    ...over,
  });

/** What a gate that failed tells the next attempt. */
export const FEEDBACK =
  'The gate "test" failed: exit code 1; 2 of 12 tests failed.\nIts command: npm test\n\nThe end of its output:\nFAIL';
