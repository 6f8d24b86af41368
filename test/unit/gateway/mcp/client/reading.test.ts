import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { judgeBy } from '../../../../../gateway/mcp/client/foreign-schema.ts';
import { ConnectionLost, failureOf } from '../../../../../gateway/mcp/client/mcp-failure.ts';
import {
  readContents,
  readRendering,
  readToolResult,
} from '../../../../../gateway/mcp/client/read-content.ts';
import { readPrompts, readResources, readTool } from '../../../../../gateway/mcp/client/read-offer.ts';

describe('what an MCP server answers', () => {
  it('is read as content, without what has no place there', () => {
    const result = readToolResult({
      content: [
        { type: 'text', text: 'a', annotations: { audience: ['user'] }, _meta: { x: 1 } },
        { type: 'resource_link', uri: 'note://a', name: 'A', size: 4 },
        { type: 'resource', resource: { uri: 'note://b', blob: 'AAAA', _meta: {} } },
      ],
      structuredContent: { sum: 3 },
      _meta: { y: 2 },
    });
    expect(result).toEqual({
      content: [
        { type: 'text', text: 'a' },
        { type: 'resource_link', uri: 'note://a', name: 'A' },
        { type: 'resource', resource: { uri: 'note://b', blob: 'AAAA' } },
      ],
      structured: { sum: 3 },
      structuredContent: { sum: 3 },
    });
  });

  it('has a place for a value that is no object', () => {
    expect(readToolResult({ content: [], structuredContent: [1, 2] })).toEqual({
      content: [{ type: 'text', text: '[1,2]' }],
      structuredContent: [1, 2],
    });
  });

  it.each([
    [{ content: [{ type: 'video', data: 'AAAA' }] }],
    [{ content: [{ type: 'image', data: 'not base64!', mimeType: 'image/png' }] }],
    [{ content: 'text' }],
    [undefined],
  ])('is refused when it is none: %j', (result) => {
    expect(() => readToolResult(result)).toThrow();
  });

  it('is read of resources and prompts, too', () => {
    expect(readContents({ contents: [{ uri: 'a:b', text: 'x', extra: 1 }] })).toEqual([
      { uri: 'a:b', text: 'x' },
    ]);
    const messages = [{ role: 'user', content: { type: 'text', text: 'hi' } }];
    expect(readRendering({ messages })).toEqual({ messages });
    expect(() => readRendering({ messages: [{ role: 'system', content: messages[0] }] })).toThrow();
  });

  it('is judged by the schema that its tool has, without its regular expressions', () => {
    const judge = judgeBy({
      type: 'object',
      properties: { n: { type: 'number' }, evil: { type: 'string', pattern: '^(a+)+$' } },
      required: ['n'],
    });
    expect(judge({ n: 1, evil: `${'a'.repeat(40)}!` })).toBeUndefined();
    expect(judge({})).toMatch(/n/);
    expect(judgeBy({ type: 'nonsense' })({})).toBeUndefined();
  });
});

describe('what an MCP server offers', () => {
  it('is read as far as it is what it should be; the rest is named', () => {
    const left: string[] = [];
    const leave = (why: string): void => void left.push(why);
    const listed = [
      { uri: 'note://a', name: 'A', title: '', _meta: {} },
      { uri: 'no uri', name: 'B' },
    ];
    expect(readResources({ listed, leave })).toEqual([{ uri: 'note://a', name: 'A' }]);
    expect(left).toEqual([expect.stringMatching(/^no uri: /)]);
    const prompt = { name: 'p', arguments: [{ name: 'a', title: '', required: true, x: 1 }] };
    expect(readPrompts({ listed: [prompt], leave })).toEqual([
      { name: 'p', arguments: [{ name: 'a', required: true }] },
    ]);
  });

  it('may destroy and reaches beyond unless it says otherwise', () => {
    const tool = { name: 't', inputSchema: {} };
    expect(readTool(tool).annotations).toEqual({ destructive: true, openWorld: true });
    const annotations = { readOnlyHint: true, openWorldHint: false, idempotentHint: true };
    expect(readTool({ ...tool, annotations }).annotations).toEqual({
      readOnly: true,
      idempotent: true,
      openWorld: false,
    });
    const careful = { destructiveHint: false };
    expect(readTool({ ...tool, annotations: careful }).annotations).toEqual({
      destructive: false,
      openWorld: true,
    });
  });

  it('is described in so many words at most', () => {
    expect(
      readTool({ name: 't', inputSchema: {}, description: 'x'.repeat(20_000) }).description,
    ).toHaveLength(16_384);
  });
});

describe('what goes wrong with an MCP server', () => {
  const codeOf = (error: unknown): unknown => (failureOf(error, 'it', 10) as { code?: string }).code;

  it('is said in words of ours', () => {
    expect(codeOf(new ProtocolError(-32_602, 'no such thing'))).toBe('INVALID_PAYLOAD');
    expect(codeOf(new ProtocolError(-32_603, 'oops'))).toBe('REMOTE_FAILED');
    expect(codeOf(new SdkError(SdkErrorCode.RequestTimeout, 'late'))).toBe('DEADLINE_EXCEEDED');
    expect(codeOf(new Error('anything'))).toBe('REMOTE_FAILED');
    const refused = new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
    expect(failureOf(refused, 'it', 10)).toMatchObject({
      code: 'REMOTE_UNREACHABLE',
      details: { mayHaveArrived: false },
    });
    expect(failureOf(new SdkError(SdkErrorCode.ConnectionClosed, 'gone'), 'it', 10)).toBeInstanceOf(
      ConnectionLost,
    );
  });

  it('is said of an answer without a text, and of a stream of events that could not be had', () => {
    const event = new Event('error') as never;
    const said = new SdkHttpError(SdkErrorCode.ClientHttpUnexpectedContent, 'Error POSTing: ', {
      status: 405,
      statusText: '',
    });
    expect(failureOf(said, 'it', 10).message).toBe('it failed: Error POSTing (HTTP 405)');
    expect(codeOf(new SseError(401, 'no', event))).toBe('UNAUTHENTICATED');
    expect(codeOf(new SseError(403, 'no', event))).toBe('NOT_PERMITTED');
    expect(codeOf(new SseError(404, 'no', event))).toBe('REMOTE_FAILED');
    expect(failureOf(new SseError(undefined, 'fetch failed', event), 'it', 10)).toMatchObject({
      code: 'REMOTE_UNREACHABLE',
      details: { mayHaveArrived: false },
    });
  });
});
