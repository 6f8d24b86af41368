import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BACKENDS } from '../../../../actors/coding/backends/backends.ts';
import { CodingEvent } from '../../../../actors/coding/coding-event.ts';
import { claudeStream } from '../../../../actors/coding/streams/claude-stream.ts';
import { codexStream } from '../../../../actors/coding/streams/codex-stream.ts';
import { geminiStream } from '../../../../actors/coding/streams/gemini-stream.ts';
import { opencodeStream } from '../../../../actors/coding/streams/opencode-stream.ts';
import { retryAtIn } from '../../../../actors/coding/streams/rate-limit.ts';
import type { StreamReader } from '../../../../actors/coding/streams/stream-reader.ts';

const NOW_MS = 1_790_000_000_000;
const now = (): number => NOW_MS;

const read = (reader: StreamReader, lines: readonly unknown[]): CodingEvent[] => [
  ...lines.flatMap((line) => reader.read(typeof line === 'string' ? line : JSON.stringify(line))),
  ...reader.end(),
];

describe('The stream of Claude Code', () => {
  const session_id = 'a74d2edb-d7df-475f-ad7f-2c89def2ca88';
  const usage = {
    input_tokens: 4,
    cache_creation_input_tokens: 10,
    cache_read_input_tokens: 100,
    output_tokens: 2,
  };
  const assistant = (id: string, ...content: unknown[]) => ({
    type: 'assistant',
    message: { id, type: 'message', role: 'assistant', model: 'm', content, usage },
    parent_tool_use_id: null,
    session_id,
  });

  it('tells session, messages, tools and plan', () => {
    const events = read(claudeStream(now), [
      {
        type: 'system',
        subtype: 'init',
        cwd: '/w',
        session_id,
        tools: ['Read'],
        model: 'opus',
        permissionMode: 'default',
      },
      { type: 'system', subtype: 'hook_started', session_id },
      assistant(
        'msg_1',
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text: 'I look.' },
      ),
      assistant('msg_1', {
        type: 'tool_use',
        id: 'toolu_1',
        name: 'Edit',
        input: { file_path: '/w/a.ts', old_string: 'a', new_string: 'b' },
      }),
      {
        type: 'user',
        message: {
          role: 'user',
          content: [{ tool_use_id: 'toolu_1', type: 'tool_result', content: 'no', is_error: true }],
        },
      },
      assistant('msg_2', {
        type: 'tool_use',
        id: 'toolu_2',
        name: 'TodoWrite',
        input: { todos: [{ content: 'x', status: 'in_progress', activeForm: 'x' }] },
      }),
    ]);
    expect(events.filter(({ type }) => type !== 'usage')).toEqual([
      { type: 'session.started', sessionId: session_id, model: 'opus' },
      { type: 'said', text: 'I look.' },
      { type: 'tool.started', toolId: 'toolu_1', kind: 'edit', title: 'Edit: /w/a.ts', paths: ['/w/a.ts'] },
      { type: 'tool.ended', toolId: 'toolu_1', isError: true },
      { type: 'planned', entries: [{ text: 'x', status: 'running' }] },
      { type: 'tool.started', toolId: 'toolu_2', kind: 'think', title: 'TodoWrite', paths: [] },
    ]);
    // A message of two lines counts once.
    expect(events.findLast(({ type }) => type === 'usage')).toEqual({
      type: 'usage',
      usage: { inputTokens: 228, outputTokens: 4 },
    });
  });

  it('tells usage, refused permissions and how it ended', () => {
    const result = {
      type: 'result',
      subtype: 'success',
      is_error: false,
      num_turns: 2,
      result: 'All done.',
      session_id,
      total_cost_usd: 0.21,
      usage: { ...usage, output_tokens: 9, server_tool_use: { web_search_requests: 0 } },
      permission_denials: [{ tool_name: 'Bash', tool_use_id: 'toolu_3', tool_input: { command: 'curl x' } }],
    };
    expect(read(claudeStream(now), [result])).toEqual([
      { type: 'permission.answered', kind: 'execute', title: 'Bash: curl x', isAllowed: false },
      { type: 'usage', usage: { inputTokens: 114, outputTokens: 9, costUsd: 0.21 } },
      { type: 'ended', isError: false, reason: 'success' },
    ]);
    const [, ended] = read(claudeStream(now), [
      { type: 'result', subtype: 'error_max_turns', is_error: false, session_id },
    ]);
    expect(ended).toEqual({ type: 'ended', isError: true, reason: 'error_max_turns' });
  });

  it('tells a rate limit when it is rejected, and that it is final when it gives up, with the time', () => {
    const resetsAt = NOW_MS / 1_000 + 60;
    const events = read(claudeStream(now), [
      {
        type: 'rate_limit_event',
        rate_limit_info: { status: 'allowed', resetsAt, rateLimitType: 'five_hour' },
      },
      {
        type: 'rate_limit_event',
        rate_limit_info: { status: 'rejected', resetsAt, rateLimitType: 'five_hour' },
      },
      {
        type: 'result',
        subtype: 'success',
        is_error: true,
        api_error_status: 429,
        result: "You've hit your session limit",
        session_id,
      },
    ]);
    expect(events).toMatchObject([
      { type: 'rate.limited', isFinal: false, retryAtMs: NOW_MS + 60_000 },
      { type: 'usage' },
      { type: 'rate.limited', isFinal: true, retryAtMs: NOW_MS + 60_000 },
      { type: 'ended', isError: true },
    ]);
  });
});

describe('The stream of Codex', () => {
  it('tells session, messages, commands, changes, plan and usage', () => {
    const command = {
      id: 'item_1',
      type: 'command_execution',
      command: "bash -lc 'ls'",
      aggregated_output: '',
    };
    const events = read(codexStream(now), [
      { type: 'thread.started', thread_id: '0199a213' },
      { type: 'turn.started' },
      { type: 'item.completed', item: { id: 'item_0', type: 'reasoning', text: 'hm' } },
      { type: 'item.started', item: { ...command, exit_code: null, status: 'in_progress' } },
      {
        type: 'item.completed',
        item: { ...command, aggregated_output: 'a', exit_code: 1, status: 'failed' },
      },
      {
        type: 'item.completed',
        item: {
          id: 'item_2',
          type: 'file_change',
          changes: [{ path: '/w/a', kind: 'add' }],
          status: 'completed',
        },
      },
      { type: 'item.completed', item: { ...command, id: 'item_3', exit_code: null, status: 'declined' } },
      {
        type: 'item.updated',
        item: { id: 'item_4', type: 'todo_list', items: [{ text: 'x', completed: true }] },
      },
      { type: 'item.completed', item: { id: 'item_5', type: 'agent_message', text: 'Done.' } },
      { type: 'turn.completed', usage: { input_tokens: 100, cached_input_tokens: 50, output_tokens: 5 } },
    ]);
    const title = "bash -lc 'ls'";
    expect(events).toEqual([
      { type: 'session.started', sessionId: '0199a213' },
      { type: 'tool.started', toolId: 'item_1', kind: 'execute', title, paths: [] },
      { type: 'tool.ended', toolId: 'item_1', isError: true },
      { type: 'tool.started', toolId: 'item_2', kind: 'edit', title: 'edit /w/a', paths: ['/w/a'] },
      { type: 'tool.ended', toolId: 'item_2', isError: false },
      { type: 'tool.started', toolId: 'item_3', kind: 'execute', title, paths: [] },
      { type: 'permission.answered', kind: 'execute', title, isAllowed: false },
      { type: 'tool.ended', toolId: 'item_3', isError: true },
      { type: 'planned', entries: [{ text: 'x', status: 'done' }] },
      { type: 'said', text: 'Done.' },
      { type: 'usage', usage: { inputTokens: 100, outputTokens: 5 } },
      { type: 'ended', isError: false, reason: 'turn.completed' },
    ]);
  });

  it('tells a rate limit that it waits for, and one that ends it', () => {
    const events = read(codexStream(now), [
      {
        type: 'error',
        message: 'Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)',
      },
      {
        type: 'turn.failed',
        error: { message: "You've hit your usage limit. Try again in 2 hours 5 minutes." },
      },
    ]);
    expect(events).toMatchObject([
      { type: 'rate.limited', isFinal: false },
      { type: 'rate.limited', isFinal: true, retryAtMs: NOW_MS + 125 * 60_000 },
      { type: 'ended', isError: true },
    ]);
  });
});

describe('The stream of Gemini CLI', () => {
  const timestamp = '2026-11-30T00:00:00.000Z';

  it('gathers messages of their pieces, and tells tools, refusals and usage', () => {
    const events = read(geminiStream(now), [
      { type: 'init', timestamp, session_id: 's', model: 'pro' },
      { type: 'message', timestamp, role: 'user', content: 'the prompt' },
      { type: 'message', timestamp, role: 'assistant', content: 'I ', delta: true },
      { type: 'message', timestamp, role: 'assistant', content: 'look.', delta: true },
      {
        type: 'tool_use',
        timestamp,
        tool_name: 'run_shell_command',
        tool_id: 'c1',
        parameters: { command: 'ls' },
      },
      {
        type: 'tool_result',
        timestamp,
        tool_id: 'c1',
        status: 'error',
        output: '',
        error: { type: 'policy_violation', message: 'Tool execution denied by policy.' },
      },
      {
        type: 'result',
        timestamp,
        status: 'success',
        stats: {
          total_tokens: 15,
          input_tokens: 10,
          output_tokens: 5,
          cached: 0,
          input: 10,
          duration_ms: 1,
          tool_calls: 1,
        },
      },
    ]);
    expect(events).toEqual([
      { type: 'session.started', sessionId: 's', model: 'pro' },
      { type: 'said', text: 'I look.' },
      { type: 'tool.started', toolId: 'c1', kind: 'execute', title: 'run_shell_command: ls', paths: [] },
      { type: 'permission.answered', kind: 'execute', title: 'run_shell_command: ls', isAllowed: false },
      { type: 'tool.ended', toolId: 'c1', isError: true },
      { type: 'usage', usage: { inputTokens: 10, outputTokens: 5 } },
      { type: 'ended', isError: false, reason: 'success' },
    ]);
  });

  it('says what was gathered when it is cut off', () => {
    const cut = [{ type: 'message', timestamp, role: 'assistant', content: 'I ', delta: true }];
    expect(read(geminiStream(now), cut)).toEqual([{ type: 'said', text: 'I ' }]);
  });
});

describe('The stream of opencode', () => {
  it('tells its session once, and adds up what its steps have used', () => {
    const event = (type: string, part: object) => ({ type, timestamp: 1, sessionID: 'ses_1', part });
    const tokens = { total: 23, input: 3, output: 7, reasoning: 1, cache: { read: 8, write: 4 } };
    const state = { status: 'completed', input: { filePath: '/w/a' }, output: 'ok', title: 'a', time: {} };
    const events = read(opencodeStream(now), [
      event('step_start', { type: 'step-start' }),
      event('tool_use', { type: 'tool', tool: 'edit', callID: 'call_1', state }),
      event('step_finish', { type: 'step-finish', reason: 'tool-calls', cost: 0.5, tokens }),
      event('text', { type: 'text', text: 'Done.', time: { start: 1, end: 2 } }),
      event('step_finish', { type: 'step-finish', reason: 'stop', cost: 0.25, tokens }),
    ]);
    expect(events).toEqual([
      { type: 'session.started', sessionId: 'ses_1' },
      { type: 'tool.started', toolId: 'call_1', kind: 'edit', title: 'edit: /w/a', paths: ['/w/a'] },
      { type: 'tool.ended', toolId: 'call_1', isError: false },
      { type: 'usage', usage: { inputTokens: 15, outputTokens: 8, costUsd: 0.5 } },
      { type: 'said', text: 'Done.' },
      { type: 'usage', usage: { inputTokens: 30, outputTokens: 16, costUsd: 0.75 } },
      { type: 'ended', isError: false, reason: 'stop' },
    ]);
  });

  it('tells what went wrong', () => {
    const error = {
      name: 'APIError',
      data: { message: 'Rate limit exceeded, retry in 30s', isRetryable: true },
    };
    expect(read(opencodeStream(now), [{ type: 'error', sessionID: 's', error }])).toMatchObject([
      { type: 'session.started' },
      { type: 'rate.limited', isFinal: true, retryAtMs: NOW_MS + 30_000 },
      { type: 'ended', isError: true },
    ]);
  });
});

describe.each(Object.values(BACKENDS))('Any stream of $name', (backend) => {
  it('ignores types that nobody knows, and tells lines that are no event', () => {
    const reader = backend.reader(now);
    expect(reader.read('{"type":"of.tomorrow","a":1}')).toEqual([]);
    for (const line of ['not JSON', '{"type":7}', '[]', 'null', '"text"'])
      expect(reader.read(line)).toEqual([{ type: 'unreadable', text: line }]);
    expect(reader.read('x'.repeat(10_000))[0]).toEqual({ type: 'unreadable', text: 'x'.repeat(2_000) });
  });

  const types = [
    'system',
    'assistant',
    'user',
    'result',
    'rate_limit_event',
    'thread.started',
    'item.completed',
    'turn.completed',
    'turn.failed',
    'error',
    'init',
    'message',
    'tool_use',
    'tool_result',
    'text',
    'step_finish',
    '__proto__',
    'constructor',
  ];
  const keys = fc.constantFrom(
    'type',
    'message',
    'content',
    'usage',
    'item',
    'part',
    'error',
    'id',
    'text',
    'status',
    'tokens',
    'cost',
    'result',
    'session_id',
    'sessionID',
    'thread_id',
    'paths',
    'input',
    'name',
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string(),
      fc.double(),
      fc.constant(null),
      fc.array(tie('value')),
      fc.dictionary(keys, tie('value')),
    ),
  }));
  const odd = fc
    .tuple(fc.constantFrom(...types), fc.dictionary(keys, value))
    .map(([type, fields]) => JSON.stringify({ ...fields, type }));

  it('throws nothing, and tells events alone, whatever it reads', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(odd, fc.string(), fc.json())), (lines) => {
        for (const event of read(backend.reader(now), lines))
          expect(CodingEvent.safeParse(event).success).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

describe('The time to try again', () => {
  it.each([
    ['try again in 3 days 1 hour', 73 * 3_600_000],
    ['Please retry in 3.5s.', 3_500],
    ['retry in 250ms', 250],
    ['Your quota will reset after 1h2m3s.', 3_723_000],
    ['try again later', undefined],
    ['429', undefined],
  ])('is read of "%s"', (error, waitMs) => {
    expect(retryAtIn(error, NOW_MS)).toBe(waitMs === undefined ? undefined : NOW_MS + waitMs);
  });
});
