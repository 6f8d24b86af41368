import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of a server, and the answers that are being written to them. */
export class Connections {
  readonly #sockets = new Set<Socket>();
  readonly #answering = new Map<Socket, Set<ServerResponse>>();
  /** Of those that are closed. */
  #bytesIn = 0;
  #bytesOut = 0;
  #waiting: (() => void)[] = [];

  get size(): number {
    return this.#sockets.size;
  }

  get bytesIn(): number {
    return sum(this.#sockets, ({ bytesRead }) => bytesRead, this.#bytesIn);
  }

  get bytesOut(): number {
    return sum(this.#sockets, ({ bytesWritten }) => bytesWritten, this.#bytesOut);
  }

  readonly add = (socket: Socket): void => {
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#bytesIn += socket.bytesRead;
      this.#bytesOut += socket.bytesWritten;
    });
  };

  /** Knows of an answer until all of it is sent, or its connection is gone. */
  answering(socket: Socket, response: ServerResponse): void {
    const responses = this.#answering.get(socket) ?? new Set();
    this.#answering.set(socket, responses.add(response));
    response.once('close', () => {
      responses.delete(response);
      if (responses.size === 0) this.#answering.delete(socket);
      if (this.#answering.size > 0) return;
      for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }

  isAnswering(socket: Socket): boolean {
    return this.#answering.has(socket);
  }

  /** Something of an answer is out already: what follows would be taken for the rest of it. */
  isInTheMiddle(socket: Socket): boolean {
    return [...(this.#answering.get(socket) ?? [])].some(({ headersSent }) => headersSent);
  }

  /** Resolves when nothing is being answered. */
  whenAnswered(): Promise<void> {
    if (this.#answering.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

const sum = (sockets: Iterable<Socket>, bytes: (socket: Socket) => number, from: number): number => {
  let all = from;
  for (const socket of sockets) all += bytes(socket);
  return all;
};
