import { describe, expect, it } from 'vitest';
import { boundedFetch } from '../../../../../gateway/mcp/client/bounded-fetch.ts';

function answering(body: string, contentType = 'application/json') {
  let tooLarge = 0;
  const fetch = boundedFetch({
    fetch: async () => new Response(body, { status: 201, headers: { 'content-type': contentType } }),
    maxMessageBytes: 10,
    onTooLarge: () => {
      tooLarge += 1;
    },
  });
  return { fetch, tooLarge: () => tooLarge };
}

describe('requests whose answers are bounded', () => {
  it('give an answer that is as large as it may be, with all that is said of it', async () => {
    const { fetch, tooLarge } = answering('1234567890');
    const response = await fetch('http://localhost');
    expect([response.status, response.headers.get('content-type')]).toEqual([201, 'application/json']);
    expect(await response.text()).toBe('1234567890');
    expect(tooLarge()).toBe(0);
  });

  it('fail on one that is larger, and say so', async () => {
    const { fetch, tooLarge } = answering('12345678901');
    await expect((await fetch('http://localhost')).text()).rejects.toThrow('more than 10 bytes');
    expect(tooLarge()).toBe(1);
  });

  it('bound each event of a stream, and not the stream', async () => {
    const many = answering('data: 1\n\n'.repeat(20), 'text/event-stream');
    expect(await (await many.fetch('http://localhost')).text()).toHaveLength(180);
    const crlf = answering('data:1\r\n\r\n'.repeat(20), 'text/event-stream; charset=utf-8');
    expect(await (await crlf.fetch('http://localhost')).text()).toHaveLength(200);
    const long = answering('data: 1\n\ndata: 123456\n\ndata: 1\n\n', 'text/event-stream');
    await expect((await long.fetch('http://localhost')).text()).rejects.toThrow('more than 10 bytes');
  });

  it('send nothing that is larger', async () => {
    const { fetch } = answering('');
    await expect(fetch('http://localhost', { method: 'POST', body: 'é'.repeat(6) })).rejects.toThrow(
      '12 bytes',
    );
  });
});
