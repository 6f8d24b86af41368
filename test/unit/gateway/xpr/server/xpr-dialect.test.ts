import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Task,
  TASK_STATES,
  type TaskMessage,
  type TaskState,
} from '../../../../../runtime/protocol/task.ts';
import {
  writeXprTask,
  readCancel,
  readGet,
  readSend,
  writeXprError,
} from '../../../../../gateway/xpr/server/xpr-dialect.ts';
import { unauthenticated } from '../../../../../runtime/protocol/edge-errors.ts';
import { OrreryError } from '../../../../../runtime/protocol/errors.ts';
import { fault, FAULTS } from '../../../../../gateway/a2a/wire/faults.ts';

const reading = { newId: () => 'm-1', waitMs: 5 };
const text = { type: 'text', text: 'Analyze this dataset and produce a summary' };
const AT_MS = Date.UTC(2024, 0, 15, 10, 30);

const task = (changes: Partial<Task> = {}, state: TaskState = 'completed', message?: TaskMessage): Task => ({
  id: 'task-abc123',
  contextId: 'c-1',
  status: { state, atMs: AT_MS, ...(message === undefined ? {} : { message }) },
  artifacts: [],
  history: [],
  generation: 7,
  createdAtMs: 1,
  ...changes,
});

describe('What message/send says', () => {
  it('is the seed’s example: a new task, with its job (X-07, X-08, X-31, X-32)', () => {
    const params = {
      message: { role: 'user', parts: [text] },
      'xpr:callerAccount': 'alice',
      metadata: { 'xpr:jobId': 42 },
    };
    expect(readSend(params, reading)).toEqual({
      message: { messageId: 'm-1', role: 'user', parts: [{ text: text.text }] },
      metadata: { 'xpr:jobId': 42 },
      claimedAccount: 'alice',
      returnImmediately: false,
      waitMs: 5,
      historyLength: 0,
      acceptedOutputModes: [],
    });
  });

  it('goes on with a task, with facts that are the message’s own (X-25)', () => {
    const message = { role: 'user', parts: [text], metadata: { own: 1 } };
    const read = readSend({ id: 'task-1', message, metadata: { 'xpr:jobId': 42 } }, reading);
    expect(read.taskId).toBe('task-1');
    expect(read.metadata).toBeUndefined();
    expect(read.message.metadata).toEqual({ own: 1, 'xpr:jobId': 42 });
  });

  it('has every kind of part (X-08, C-03)', () => {
    const parts = [
      text,
      { type: 'file', file: { name: 'a.csv', mimeType: 'text/csv', uri: 'https://files.example/a.csv' } },
      { type: 'file', file: { mimeType: 'text/plain', bytes: 'aGk=' } },
      { type: 'data', data: { rows: [1, null] } },
    ];
    const read = readSend({ message: { role: 'user', parts } }, reading);
    expect(read.message.parts).toEqual([
      { text: text.text },
      { url: 'https://files.example/a.csv', filename: 'a.csv', mediaType: 'text/csv' },
      { raw: 'aGk=', mediaType: 'text/plain' },
      { data: { rows: [1, null] } },
    ]);
  });

  it.each<[string, object]>([
    ['message', {}],
    ['message.parts', { message: { role: 'user', parts: [] } }],
    ['message.role', { message: { role: 'system', parts: [text] } }],
    ['message.parts', { message: { role: 'user', parts: [{ type: 'text' }] } }],
    ['message.parts', { message: { role: 'user', parts: [{ type: 'video', text: 'x' }] } }],
    ['message.parts', { message: { role: 'user', parts: [{ type: 'file', file: { mimeType: 'a/b' } }] } }],
    ['id', { id: 7, message: { role: 'user', parts: [text] } }],
    ['metadata.xpr:jobId', { message: { role: 'user', parts: [text] }, metadata: { 'xpr:jobId': 'x' } }],
    ['metadata.xpr:jobId', { message: { role: 'user', parts: [text] }, metadata: { 'xpr:jobId': -1 } }],
    ['xpr:callerAccount', { message: { role: 'user', parts: [text] }, 'xpr:callerAccount': 7 }],
  ])('is refused naming %s (X-36): %j', (field, params) => {
    expect(() => readSend(params, reading)).toThrow(field);
  });

  it('is read, or refused as a wrong parameter: nothing else is thrown', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom('message/send', 'tasks/get', 'tasks/cancel'),
        (params, method) => {
          const read = {
            'message/send': () => readSend(params, reading),
            'tasks/get': () => readGet(params),
            'tasks/cancel': () => readCancel(params),
          };
          try {
            read[method]();
          } catch (error) {
            expect(error).toMatchObject({ code: 'INVALID_PAYLOAD' });
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('A task in the words of XPR', () => {
  it('is the seed’s example (X-30)', () => {
    const artifacts = [{ artifactId: 'a', parts: [{ text: 'Analysis complete. Key findings: ...' }] }];
    expect(writeXprTask(task({ artifacts }))).toEqual({
      id: 'task-abc123',
      contextId: 'c-1',
      status: { state: 'completed', timestamp: '2024-01-15T10:30:00.000Z' },
      artifacts: [{ parts: [{ type: 'text', text: 'Analysis complete. Key findings: ...' }], index: 0 }],
    });
  });

  it('numbers its artifacts, names files as what they are, and echoes what its owner said beside it (X-30, X-31)', () => {
    const artifacts = [
      { artifactId: 'a', name: 'report', description: 'all of it', parts: [{ data: { n: 1 } }] },
      {
        artifactId: 'b',
        parts: [{ raw: 'aGk=' }, { url: 'https://x.example/y', mediaType: 'a/b', filename: 'y' }],
      },
    ];
    const written = writeXprTask(task({ artifacts, metadata: { 'xpr:jobId': 42 } }));
    expect(written['artifacts']).toEqual([
      { name: 'report', description: 'all of it', parts: [{ type: 'data', data: { n: 1 } }], index: 0 },
      {
        parts: [
          { type: 'file', file: { mimeType: 'application/octet-stream', bytes: 'aGk=' } },
          { type: 'file', file: { mimeType: 'a/b', name: 'y', uri: 'https://x.example/y' } },
        ],
        index: 1,
      },
    ]);
    expect(written['metadata']).toEqual({ 'xpr:jobId': 42 });
  });

  it('has one of the seed’s six states, whatever it is here (X-28, C-11)', () => {
    const shown = TASK_STATES.map((state) => [state, writeXprTask(task({}, state))['status']]);
    expect(
      Object.fromEntries(shown.map(([state, status]) => [state, (status as { state: string }).state])),
    ).toEqual({
      submitted: 'submitted',
      working: 'working',
      'input-required': 'input-required',
      'auth-required': 'input-required',
      completed: 'completed',
      failed: 'failed',
      canceled: 'canceled',
      rejected: 'failed',
    });
  });

  it('has artifacts when it is completed, also none, and says in its status what failed (X-50)', () => {
    expect(writeXprTask(task())).toMatchObject({ artifacts: [] });
    const message: TaskMessage = { messageId: 'm', role: 'agent', parts: [{ text: 'out of disk' }] };
    const failed = writeXprTask(task({}, 'failed', message));
    expect(failed).not.toHaveProperty('artifacts');
    expect(failed['status']).toMatchObject({
      state: 'failed',
      message: { role: 'agent', parts: [{ type: 'text', text: 'out of disk' }] },
    });
  });
});

describe('The errors of the XPR binding (C-09)', () => {
  it.each([
    ['PARSE_ERROR', -32_700, 'Parse error'],
    ['INVALID_REQUEST', -32_600, 'Invalid request'],
    ['METHOD_NOT_FOUND', -32_601, 'Method not found'],
    ['INVALID_PARAMS', -32_602, 'Invalid params'],
    ['INTERNAL', -32_603, 'Internal error'],
    ['UNAUTHENTICATED', -32_000, 'Authentication error'],
    ['PERMISSION_DENIED', -32_000, 'Authentication error'],
    ['RATE_LIMITED', -32_000, 'Authentication error'],
    ['TASK_NOT_FOUND', -32_001, 'Task not found'],
    ['TASK_NOT_CANCELABLE', -32_002, 'Task not cancelable'],
  ] as const)(
    'have the seed’s number and message: %s is %i (X-33, X-34, X-35, X-36, X-37, X-38, X-39, X-40)',
    (name, code, message) => {
      expect(writeXprError(fault(name, 'a sentence'))).toMatchObject({ code, message, httpStatus: 200 });
    },
  );

  it('are all of the seed’s, and say which fault it is', () => {
    const codes = [-32_700, -32_600, -32_601, -32_602, -32_603, -32_000, -32_001, -32_002];
    for (const name of FAULTS) {
      const written = writeXprError(fault(name, 'a sentence'));
      expect(codes).toContain(written.code);
      expect(written.data).toMatchObject({ reason: name });
    }
  });

  it('tell apart what shares -32000, and when to come again (X-38)', () => {
    expect(writeXprError(unauthenticated('its timestamp is old')).data).toEqual({
      reason: 'UNAUTHENTICATED',
      detail: 'The request is not authenticated: its timestamp is old',
    });
    const limited = new OrreryError('RATE_LIMITED', 'too many', { details: { retryAfterMs: 1_001 } });
    expect(writeXprError(limited).data).toEqual({
      reason: 'RATE_LIMITED',
      detail: 'too many',
      retryAfterSeconds: 2,
    });
  });

  it.each([new Error('password is hunter2'), 'hunter2', new OrreryError('STORE_FAILED', 'hunter2')])(
    'tell nothing of what is inside (X-37)',
    (error) => {
      const written = writeXprError(error);
      expect(written.code).toBe(-32_603);
      expect(JSON.stringify(written)).not.toContain('hunter2');
    },
  );
});
