import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { AcpPipe } from '../../../../actors/coding/acp/acp-pipe.ts';

function pipe(input: Writable = new PassThrough()) {
  const output = new PassThrough();
  const told: unknown[] = [];
  const messages = new AcpPipe({
    input,
    output,
    heard: () => undefined,
    onUpdate: (params) => told.push(['update', params]),
    onUnreadable: (line) => told.push(['unreadable', line]),
    onTooLong: (maxBytes) => told.push(['too long', maxBytes]),
  });
  const send = (...all: unknown[]) => output.write(all.map((each) => `${JSON.stringify(each)}\n`).join(''));
  return { output, told, messages, send };
}

const request = (id: number) => ({ jsonrpc: '2.0', id, method: 'fs/read_text_file', params: {} });

describe('The messages of a program', () => {
  it('are requests and answers to what it was asked; of notifications, the updates alone', async () => {
    const { output, told, messages, send } = pipe();
    const writer = messages.writable.getWriter();
    await writer.write({ jsonrpc: '2.0', id: 5, method: 'initialize' });
    const all: unknown[] = [];
    send(
      { jsonrpc: '2.0', id: 7, result: 'nobody asked' },
      { jsonrpc: '2.0', method: 'session/update', params: 1 },
      { jsonrpc: '2.0', method: '$/cancel_request', params: {} },
      { jsonrpc: '2.0', id: 5, result: 'asked' },
      { jsonrpc: '2.0', id: 5, result: 'a second time' },
      request(1),
      'no message',
    );
    output.end('{"half');
    await messages.read();
    for await (const message of messages.readable) all.push(message);
    expect(all).toEqual([{ jsonrpc: '2.0', id: 5, result: 'asked' }, request(1)]);
    expect(told).toEqual([
      ['update', 1],
      ['unreadable', '"no message"'],
      ['unreadable', '{"half'],
    ]);
  });

  it('are not read any more while many of its requests wait, until they are answered', async () => {
    const { output, messages, send } = pipe();
    const reading = messages.read();
    const writer = messages.writable.getWriter();
    for (let id = 0; id < 100; id++) send(request(id));
    output.end(`${JSON.stringify(request(100))}\n`);
    const reader = messages.readable.getReader();
    let count = 0;
    let left = 0;
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      count++;
      if (count !== 65) continue;
      left = output.readableLength;
      for (let id = 0; id < 65; id++) await writer.write({ jsonrpc: '2.0', id, result: {} });
    }
    await reading;
    expect(count).toBe(101);
    expect(left).toBeGreaterThan(0);
  });

  it('are over when it is gone, also while its requests wait', async () => {
    const { output, messages, send } = pipe(new Writable({ write: () => undefined }));
    const reading = messages.read();
    for (let id = 0; id < 100; id++) send(request(id));
    setImmediate(() => output.destroy());
    await reading;
    expect(output.destroyed).toBe(true);
  });

  it('are cut off where one is too long, which nothing of is kept', async () => {
    const { output, told, messages } = pipe();
    const reading = messages.read();
    const piece = Buffer.alloc(1_000_000, 'x');
    for (let at = 0; at < 9; at++) output.write(piece);
    output.end();
    await reading;
    expect(told).toEqual([['too long', 8_000_000]]);
  });
});
