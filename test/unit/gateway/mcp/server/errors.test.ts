import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ToolHost } from '../../../../../actors/tools/tool-host.ts';
import { ERROR_CODES, OrreryError } from '../../../../../runtime/protocol/errors.ts';
import { ANONYMOUS } from '../../../../../runtime/protocol/principal.ts';
import { systemSeams } from '../../../../../runtime/protocol/system-seams.ts';
import type { TaskService } from '../../../../../runtime/protocol/task-service.ts';
import { FAULT_ROWS, internalFault } from '../../../../../gateway/a2a/wire/faults.ts';
import { DirectAnswers } from '../../../../../gateway/mcp/server/direct-answer.ts';
import { isToldAsItIs } from '../../../../../runtime/protocol/told-failure.ts';
import {
  isFault,
  MCP_CODES,
  McpError,
  mcpErrorOf,
  toolErrorOf,
} from '../../../../../gateway/mcp/server/mcp-errors.ts';
import { McpOptions } from '../../../../../gateway/mcp/server/mcp-options.ts';
import { McpService } from '../../../../../gateway/mcp/server/mcp-service.ts';
import { errorResult } from '../../../../../gateway/mcp/server/tool-result.ts';
import { CallerRights } from '../../../../../gateway/team/caller-rights.ts';
import { cardOf, TestTeam } from '../../../../fixtures/test-team.ts';

/** What JSON-RPC says of its own codes, which mean the same everywhere. */
const isOfJsonRpc = (code: number): boolean => code === -32700 || (code <= -32600 && code >= -32603);
const numbers = ERROR_CODES.map((code) => mcpErrorOf(new OrreryError(code, 'It went wrong')).code);

describe('Numbers of errors (C-26)', () => {
  it('are none of A2A’s, unless they are those of JSON-RPC', () => {
    const a2a = new Set(Object.values(FAULT_ROWS).map(({ code }) => code));
    const own = new Set([...numbers, ...Object.values(MCP_CODES)].filter((code) => !isOfJsonRpc(code)));
    expect([...own].filter((code) => a2a.has(code as never))).toEqual([]);
    expect(own.size).toBe(9);
  });

  it('of ours are in the range that servers may use, and none that MCP has given a meaning', () => {
    const taken = new Set<number>([-32000, -32001, -32002, -32020, -32021, -32022, -32042]);
    for (const code of numbers.filter((number) => !isOfJsonRpc(number))) {
      expect(code).toBeGreaterThanOrEqual(-32099);
      expect(code).toBeLessThanOrEqual(-32000);
      expect(taken.has(code)).toBe(false);
    }
  });

  it('say that somebody has to look where they say that it is internal', () => {
    expect(isFault(new Error('oops'))).toBe(true);
    expect(isFault('oops')).toBe(true);
    expect(isFault(new OrreryError('STORE_FAILED', 'The disk is full'))).toBe(true);
    expect(isFault(new McpError(MCP_CODES.internal, 'Oops'))).toBe(true);
    for (const code of ['NOT_PERMITTED', 'TAINTED', 'TIER_VIOLATION', 'REFUSED', 'TASK_OVER'] as const)
      expect(isFault(new OrreryError(code, 'No'))).toBe(false);
  });
});

describe('What is told of an error', () => {
  const withoutNumber = ERROR_CODES.filter((code) => isFault(new OrreryError(code, 'It went wrong')));

  it('that is none of the caller’s business is that it was one, and nothing of it, as in A2A', () => {
    expect(withoutNumber).toContain('STORE_FAILED');
    expect(withoutNumber).toContain('MODULE_INVALID');
    const details = { agentId: 'clerk', retryAfterMs: 5, uri: 'notes://today', path: '/secret' };
    const thrown = [
      new Error('/secret'),
      '/secret',
      ...withoutNumber.map((code) => new OrreryError(code, '/secret', { details })),
    ];
    for (const error of thrown) {
      const { code, message, data } = mcpErrorOf(error);
      expect({ code, message, data }).toEqual({
        code: MCP_CODES.internal,
        message: internalFault().message,
        data: undefined,
      });
    }
  });

  it('that ended a call of a tool is what was said on purpose; of what was thrown, its code and an id (N-5.4)', () => {
    for (const code of ERROR_CODES) {
      const error = new OrreryError(code, '/secret', { details: { retryAfterMs: 5 } });
      const failure = toolErrorOf(error, () => 'e-1');
      const { content } = errorResult(failure, 'clerk');
      const isSaid = isToldAsItIs(error);
      expect(JSON.parse((content as { text: string }[])[0]?.text ?? '')).toEqual({
        code,
        message: isSaid ? '/secret' : (expect.not.stringContaining('secret') as string),
        agentId: 'clerk',
        retryAfterMs: 5,
        ...(isSaid ? {} : { id: 'e-1' }),
      });
    }
  });
});

describe('What is answered directly', () => {
  const META = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  };
  const params = { name: 'clerk.echo', arguments: {}, _meta: META };
  const body = { jsonrpc: '2.0', id: 7, method: 'tools/call', params };
  const asked = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'clerk.echo',
    },
  });

  /** A call whose task cannot be kept for this reason: what the caller is told, and what whoever runs it. */
  async function told(reason: OrreryError) {
    const tools = new ToolHost();
    tools.registerTool(
      {
        agentId: 'clerk',
        name: 'echo',
        title: 'Echo',
        description: '',
        annotations: {},
        inputSchema: z.object({}),
        outputSchema: z.string(),
      },
      () => 'echo',
    );
    const tasks = { send: () => Promise.reject(reason) } as unknown as TaskService;
    const service = new McpService(
      {
        tools,
        tasks,
        team: new TestTeam([cardOf('clerk')]),
        client: { agentId: 'system/host', seams: systemSeams(), note: () => undefined },
        rights: new CallerRights(),
      },
      McpOptions.parse({ tasks: 'preferred' }),
    );
    const faults: unknown[] = [];
    const answers = new DirectAnswers(service, (error, request) => faults.push(error, request));
    const response = await answers.answer(asked, body, ANONYMOUS);
    return { said: (await response?.json()) as unknown, faults };
  }

  it('tells whoever runs it of what the caller can do nothing about', async () => {
    const full = new OrreryError('STORE_FAILED', 'The disk is full');
    const { said, faults } = await told(full);
    expect(said).toMatchObject({ id: 7, error: { code: -32603 } });
    expect(JSON.stringify(said)).not.toContain('disk');
    expect(faults).toEqual([full, asked]);
  });

  it('tells only the caller of what is theirs', async () => {
    const { said, faults } = await told(new OrreryError('QUOTA_EXCEEDED', 'There are too many'));
    expect(said).toMatchObject({ id: 7, error: { code: -32084, data: { code: 'QUOTA_EXCEEDED' } } });
    expect(faults).toEqual([]);
  });
});
