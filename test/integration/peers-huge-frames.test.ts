import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AttackedNode, PATIENT } from '../fixtures/peers/attacked-node.ts';
import { BareWire, openSocket } from '../fixtures/peers/bare-wire.ts';

const GIGABYTE = 2 ** 30;
const PIECE = Buffer.alloc(65_536, 'x');

/** The header of a WebSocket's text frame with so many bytes, masked with zeros. */
function headerOf(bytes: number): Buffer {
  const header = Buffer.alloc(14);
  header[0] = 0x81;
  header[1] = 0x80 | 127;
  header.writeBigUInt64BE(BigInt(bytes), 2);
  return header;
}

/** Sends a frame of a gigabyte until it is cut off. Resolves to how much of it could be sent. */
async function flood(socket: Socket): Promise<number> {
  let sent = 0;
  const over = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  // It does not hear that it is to stop, nor that the other end says no more.
  socket.removeAllListeners('data').removeAllListeners('end').resume();
  socket.allowHalfOpen = true;
  socket.write(headerOf(GIGABYTE));
  while (sent < GIGABYTE && !socket.destroyed) {
    const goesOn = socket.write(PIECE);
    sent += PIECE.length;
    if (!goesOn) await Promise.race([once(socket, 'drain').catch(() => undefined), over]);
  }
  if (sent < GIGABYTE) await over;
  socket.destroy();
  return sent;
}

describe('A frame of a gigabyte that is really sent to a running node', () => {
  let attacked: AttackedNode;
  beforeAll(async () => {
    attacked = await AttackedNode.start(PATIENT);
  });
  afterAll(async () => {
    await attacked[Symbol.asyncDispose]();
  });

  it('is cut off at once where nobody knows the sender', async () => {
    const { webSocket, socket } = await openSocket(attacked.address);
    webSocket.on('error', () => undefined);
    expect(await flood(socket)).toBeLessThan(GIGABYTE / 8);
    await attacked.holdsOut();
  });

  it('is cut off at once where a trusted node sends it, which may come again', async () => {
    using wire = await BareWire.dial(attacked.address, { node: 'evil', key: attacked.evil });
    await wire.join();
    expect(await flood(wire.socket)).toBeLessThan(GIGABYTE / 8);
    await attacked.holdsOut();
    using again = await BareWire.dial(attacked.address, { node: 'evil', key: attacked.evil });
    await again.join();
    expect((await attacked.rome.peers()).map(({ node }) => node).sort()).toEqual(['evil', 'oslo']);
  });
});
