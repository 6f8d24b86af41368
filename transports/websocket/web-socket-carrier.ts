import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Frame } from '../../runtime/protocol/transport.ts';
import type { Carrier, CarrierUser } from '../carried-connection.ts';

const NORMAL = 1_000;
const WITHOUT_CODE = 1_005;
const WITHOUT_GOODBYE = 1_006;

/** A frame is a message: text as text, bytes as binary. What is sent in one turn of the event loop is written in one go. */
export class WebSocketCarrier implements Carrier {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  #isGathering = false;

  constructor(webSocket: WebSocket, socket: Socket, user: CarrierUser) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    let fault: string | undefined;
    webSocket.on('message', (data, isBinary) => {
      const bytes = data as Buffer;
      user.arrive(isBinary ? new Uint8Array(bytes) : bytes.toString('utf8'), bytes.length);
    });
    webSocket.on('error', (error) => {
      fault ??= error.message;
      // The other end was told why. It is not waited for: it could go on for half a minute with what is too large.
      webSocket.terminate();
    });
    webSocket.once('close', (code, reason) => user.over(fault ?? reasonOfClose(code, reason)));
  }

  send(frame: Frame, settle: () => void): void {
    this.#gather();
    this.#webSocket.send(typeof frame === 'string' ? frame : new Uint8Array(frame), (error) => {
      if (error === undefined || error === null) settle();
    });
  }

  pause(): void {
    this.#webSocket.pause();
  }

  resume(): void {
    this.#webSocket.resume();
  }

  end(): void {
    this.#webSocket.close(NORMAL);
  }

  destroy(): void {
    this.#webSocket.terminate();
  }

  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    this.#socket.cork();
    process.nextTick(() => {
      this.#isGathering = false;
      this.#socket.uncork();
    });
  }
}

function reasonOfClose(code: number, reason: Buffer): string {
  if (code === WITHOUT_GOODBYE) return 'the other end is gone';
  if (code === NORMAL || code === WITHOUT_CODE) return 'the other end closed it';
  return `the other end closed it with ${code}${reason.length === 0 ? '' : ` ${reason.toString('utf8')}`}`;
}
