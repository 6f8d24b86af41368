import type { GateReceipt, LoopEvent, TaskStatus } from '@orrery/ralph-loop';

export type Coding = Extract<LoopEvent, { type: 'task.coding' }>['event'];
type Changed = Extract<LoopEvent, { type: 'task.changed' }>;

/** A mission that is to change a repository in two tasks. */
export const started: LoopEvent = {
  type: 'mission.started',
  atMs: 0,
  mission: 'shop',
  tasks: ['login', 'cart'].map((id) => ({ id, title: id, estimateMs: undefined })),
  maxParallel: 2,
  assigner: 'sun',
  gate: 'mercury',
};

export const changed = (task: string, status: TaskStatus, over: Partial<Changed> = {}): LoopEvent => ({
  ...{ type: 'task.changed', atMs: 1_000, task, title: task, agent: 'claude', status, attempt: 1 },
  why: '',
  findings: [],
  ...over,
});

export const coding = (task: string, event: Coding): LoopEvent => ({
  ...{ type: 'task.coding', atMs: 2_000, task, agent: 'claude' },
  event,
});

export const tool = (
  toolId: string,
  title: string,
  over: Partial<Extract<Coding, { type: 'tool.started' }>> = {},
): Coding => ({
  ...{ type: 'tool.started', toolId, kind: 'execute', title, paths: [] },
  ...over,
});

export const ended = (toolId: string, isError = false): Coding => ({ type: 'tool.ended', toolId, isError });

export const receipt = (over: Partial<GateReceipt> = {}): GateReceipt => ({
  gate: 'test',
  command: 'npm test',
  exitCode: 0,
  timedOut: false,
  passed: true,
  tests: { passed: 12, failed: 0, skipped: 0, by: 'vitest' },
  durationMs: 1_500,
  logFile: '/repo/.orrery/logs/r1/login/attempt-1/1-test.log',
  logBytes: 1,
  logSha256: '0'.repeat(64),
  why: 'exit code 0, 12 tests passed',
  ...over,
});

export const failing = receipt({ exitCode: 1, passed: false, why: 'exit code 1; 2 of 12 tests failed' });

export const gateBegun = (task: string, gate = 'test'): LoopEvent => ({
  ...{ type: 'task.gate', atMs: 3_000, task },
  event: { type: 'gate.started', gate },
});

export const gateOver = (task: string, what: GateReceipt = receipt()): LoopEvent => ({
  ...{ type: 'task.gate', atMs: 4_000, task },
  event: { type: 'gate.ended', receipt: what },
});

/** What a gate that failed tells the next attempt: more than a line. */
export const FEEDBACK =
  'The gate "test" failed: exit code 1; 2 of 12 tests failed.\nIts command: npm test\n\nFAIL login';
