import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of a server, and the answers that are being written to them. */
export class Connections {
  readonly #sockets = new Set<Socket>();
  /** What is being answered on each, in the order of the requests. */
  readonly #answers = new WeakMap<Socket, ServerResponse[]>();
  #answering = 0;
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
    const responses = this.#answers.get(socket) ?? [];
    if (responses.push(response) === 1) this.#answers.set(socket, responses);
    this.#answering += 1;
    response.once('close', () => {
      responses.splice(responses.indexOf(response), 1);
      this.#answering -= 1;
      if (this.#answering > 0) return;
      for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }

  isAnswering(socket: Socket): boolean {
    return (this.#answers.get(socket)?.length ?? 0) > 0;
  }

  /** Something of an answer is out already: what follows would be taken for the rest of it. */
  isInTheMiddle(socket: Socket): boolean {
    return (this.#answers.get(socket) ?? []).some(({ headersSent }) => headersSent);
  }

  /** Resolves when nothing is being answered. */
  whenAnswered(): Promise<void> {
    if (this.#answering === 0) return Promise.resolve();
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
