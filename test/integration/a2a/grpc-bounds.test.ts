import { once } from 'node:events';
import { type ClientHttp2Stream, connect } from 'node:http2';
import { connect as connectRaw, type Socket } from 'node:net';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { describe, expect, it } from 'vitest';
import { asCaller, startGrpc } from '../../fixtures/a2a-grpc.ts';
import { startA2AServer } from '../../fixtures/a2a-server.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { sendRequest } from '../../fixtures/sdk-client.ts';
import { rejection, until } from '../../fixtures/until.ts';

const MINUTE_MS = 60_000;
const headers = {
  ':method': 'POST',
  ':path': A2AService.sendMessage.path,
  'content-type': 'application/grpc',
  te: 'trailers',
};

/** Says that a message of so many bytes comes, and sends fewer. */
function halfOf(stream: ClientHttp2Stream, bytes: number): void {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(bytes, 1);
  stream.write(Buffer.concat([prefix, Buffer.alloc(bytes / 2)]));
}

describe('what strangers can hold of a server of gRPC', () => {
  it('is no message that never comes as a whole', async () => {
    const clock = new FakeClock();
    await using server = await startA2AServer();
    await using grpc = await startGrpc(server, { clock });
    const session = connect(`http://${grpc.serving.address}`);
    const stream = session.request(headers);
    const answered = once(stream, 'response') as Promise<[Record<string, string>]>;
    const closed = once(stream, 'close');
    halfOf(stream, 1_000_000);
    await until('the message is waited for', () => clock.pending > 0);
    clock.advance(2 * MINUTE_MS - 1);
    // What is well is answered meanwhile, over the same connection or another.
    const client = await grpc.client();
    const task = await client.sendMessage(sendRequest('echo'), asCaller('alice@acme'));
    expect(task).toHaveProperty('id');
    expect(stream.closed).toBe(false);
    clock.advance(1);
    const [status] = await answered;
    expect(status['grpc-status']).toBe('4');
    expect(decodeURI(String(status['grpc-message']))).toContain('120000 ms');
    await closed;
    await until('nothing is waited for', () => clock.pending === 0);
    session.destroy();
  });

  it('is no time of what is here as a whole: a call takes as long as it takes', async () => {
    const clock = new FakeClock();
    await using server = await startA2AServer();
    await using grpc = await startGrpc(server, { clock });
    const client = await grpc.client();
    const items = client.sendMessageStream(sendRequest('hold'), asCaller('alice@acme'));
    await items.next();
    expect(clock.pending).toBe(0);
    clock.advance(60 * MINUTE_MS);
    const next = items.next();
    await grpc.serving.close({ drainMs: 0 });
    expect(String((await rejection(next)).message)).toMatch(/UNAVAILABLE|CANCELLED|ends/i);
  });

  it('are no more connections than there may be', async () => {
    await using server = await startA2AServer();
    await using grpc = await startGrpc(server, { maxConnections: 2 });
    const opened: Socket[] = [];
    const open = async (): Promise<Socket> => {
      const socket = connectRaw(grpc.serving.port, '127.0.0.1').on('error', () => undefined);
      opened.push(socket);
      await once(socket, 'connect');
      return socket;
    };
    const settingsOf = (socket: Socket): Promise<unknown> => once(socket.resume(), 'data');
    const first = await open();
    await settingsOf(first);
    await settingsOf(await open());
    const beyond = await open();
    await once(beyond.resume(), 'close');
    first.destroy();
    // The server hears of it in its own time.
    const isTaken = async (): Promise<boolean> => {
      const socket = await open();
      return Promise.race([settingsOf(socket).then(() => true), once(socket, 'close').then(() => false)]);
    };
    while (!(await isTaken()));
    for (const socket of opened) socket.destroy();
  });

  it('is no message of more keys and elements than there may be', async () => {
    await using server = await startA2AServer();
    await using grpc = await startGrpc(server, { maxKeys: 100, maxElements: 100 });
    const client = await grpc.client();
    const send = (data: unknown) => {
      const request = sendRequest('echo');
      request.message?.parts.push({
        content: { $case: 'data', value: data as never },
        metadata: undefined,
        filename: '',
        mediaType: '',
      });
      return client.sendMessage(request, asCaller('alice@acme'));
    };
    expect(await send(Array(50).fill(null))).toHaveProperty('id');
    expect((await rejection(send(Array(150).fill(null)))).message).toContain('more than 100 array elements');
    const keys = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`k${at}`, 0]));
    expect((await rejection(send(keys))).message).toContain('more than 100 object keys');
    // So many that nothing is made of it at all.
    const many = (await rejection(send(Array(20_000).fill(null)))).message;
    expect(many).toContain('more than 200 keys and elements');
  });

  it.each([
    ['grpc.maxKeys', { maxKeys: 0 }],
    ['grpc.maxConnections', { maxConnections: 0 }],
    ['grpc.messageTimeoutMs', { messageTimeoutMs: 2 ** 31 }],
    ['grpc.maxStreams', { maxStreams: 0.5 }],
  ])('is refused with %s', async (field, options) => {
    await using server = await startA2AServer();
    const { code, message } = await rejection(startGrpc(server, options));
    expect(code).toBe('INVALID_OPTIONS');
    expect(message).toContain(field);
  });

  it('is said of a port that somebody else has', async () => {
    await using server = await startA2AServer();
    await using grpc = await startGrpc(server);
    const { port } = grpc.serving;
    const { code, message } = await rejection(startGrpc(server, { port }));
    expect(code).toBe('INVALID_OPTIONS');
    expect(message).toContain(`grpc.port is ${port}`);
  });
});
