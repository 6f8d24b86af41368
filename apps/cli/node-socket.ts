import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { makeOwn } from './own-folder.ts';
import { UsageError } from './usage-error.ts';

const SOCKET = '.sock';
/** The longest path of a socket on every system, bytes. */
const MAX_PATH = 103;
const MAX_BODY = 65_536;
const PATIENCE_MS = 10_000;

/** What is done for the user who has started a node: the name of an order, and what it is given. */
export type Order = (name: string, given: unknown) => Promise<unknown>;

export const socketOf = (folder: string, node: string): string => join(folder, `${node}${SOCKET}`);
export const nodeOfSocket = (file: string): string | undefined =>
  file.endsWith(SOCKET) ? file.slice(0, -SOCKET.length) : undefined;

/**
 * The way by which `orrery peers` reaches a running node: a Unix socket in a folder that nobody but its user can enter. No caller
 * of the gateway can reach it, whatever token they have.
 */
export class NodeSocket implements Disposable {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Throws UsageError where a node of that name runs already, or no socket can be made. */
  static async open(folder: string, node: string, order: Order): Promise<NodeSocket> {
    const path = socketOf(folder, node);
    const refuse = (why: string): UsageError => new UsageError(`No socket can be made at ${path}: ${why}`);
    if (Buffer.byteLength(path) > MAX_PATH) throw refuse(`its path has more than ${MAX_PATH} bytes`);
    try {
      makeOwn(folder);
    } catch (error) {
      throw refuse((error as Error).message);
    }
    if (await isAnswered(path)) throw new UsageError(`Option "--node" is "${node}": it runs here already`);
    // Of a command that was killed.
    rmSync(path, { force: true });
    const server = createServer((asked, answer) => void answerTo(asked, answer, order));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', (error) => reject(refuse(error.message)));
    server.listen(path, resolve);
    await promise;
    // Whoever asks waits, the command does not for them.
    server.unref();
    return new NodeSocket(server);
  }

  /** Closes it; the socket is gone. */
  [Symbol.dispose](): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

async function answerTo(asked: IncomingMessage, answer: ServerResponse, order: Order): Promise<void> {
  const say = (status: number, value: unknown): void => {
    answer.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
    answer.end(JSON.stringify(value ?? null));
  };
  try {
    let text = '';
    for await (const part of asked.setEncoding('utf8')) {
      text += String(part);
      if (text.length > MAX_BODY) throw new Error(`more than ${MAX_BODY} characters`);
    }
    say(200, await order((asked.url ?? '').slice(1), JSON.parse(text)));
  } catch (error) {
    const { message, code } = error as { message: string; code?: string };
    say(code === 'USAGE' ? 400 : 500, { message });
  }
}

const isAnswered = async (path: string): Promise<boolean> =>
  askAt(path, 'list', {}).then(
    () => true,
    () => false,
  );

/** Whether an error says that nobody is behind a socket. */
export const isNobody = (error: unknown): boolean =>
  ['ECONNREFUSED', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Has a node do something. Rejects with UsageError where it refuses, and as the system does where nobody is there. */
export function askAt(path: string, name: string, given: unknown): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const asking = request(
    { socketPath: path, path: `/${name}`, method: 'POST', timeout: PATIENCE_MS },
    (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        text += part;
      });
      answer.once('error', reject);
      answer.once('end', () => {
        const value = JSON.parse(text) as { message?: string };
        if (answer.statusCode === 200) resolve(value);
        else if (answer.statusCode === 400) reject(new UsageError(String(value.message)));
        else reject(new Error(String(value.message)));
      });
    },
  );
  asking.once('timeout', () => asking.destroy(new Error(`The node says nothing for ${PATIENCE_MS} ms`)));
  asking.once('error', reject);
  asking.end(JSON.stringify(given));
  return promise;
}
