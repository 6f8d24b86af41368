import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import { makeOwn } from './own-folder.ts';
import { UsageError } from './usage-error.ts';

/** The longest path of a socket on every system, bytes. */
const MAX_PATH = 103;
const MAX_BODY = 65_536;
/** An answer is what a whole mission looks like, characters. */
const MAX_ANSWER = 16 * 1024 * 1024;
const MAX_REFUSAL = 8_192;
const MAX_CALLERS = 64;
const PATIENCE_MS = 10_000;

/** What is done for the user who has started a process: the name of an order, and what it is given. */
export type Order = (name: string, given: unknown) => Promise<unknown>;

/**
 * - `taken`      the error where another process is asked at that path already.
 * - `patienceMs` until a request that does not end is cut off. @default 10_000
 */
export interface OrderSocketOptions {
  readonly taken: () => UsageError;
  readonly patienceMs?: number;
}

/**
 * The way by which a command reaches a process of the same user that runs: a Unix socket in a folder that nobody but its user can
 * enter.
 */
export class OrderSocket implements Disposable {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Throws UsageError where somebody is asked there already, or no socket can be made. */
  static async open(
    path: string,
    order: Order,
    { taken, patienceMs = PATIENCE_MS }: OrderSocketOptions,
  ): Promise<OrderSocket> {
    const refuse = (why: string): UsageError => new UsageError(`No socket can be made at ${path}: ${why}`);
    if (Buffer.byteLength(path) > MAX_PATH) throw refuse(`its path has more than ${MAX_PATH} bytes`);
    try {
      makeOwn(dirname(path));
    } catch (error) {
      throw refuse((error as Error).message);
    }
    if (await isAnswered(path)) throw taken();
    // Of a command that was killed.
    rmSync(path, { force: true });
    const limits = {
      requestTimeout: patienceMs,
      headersTimeout: patienceMs,
      connectionsCheckingInterval: patienceMs / 2,
    };
    const server = createServer(limits, (asked, answer) => void answerTo(asked, answer, order));
    server.maxConnections = MAX_CALLERS;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', (error) => reject(refuse(error.message)));
    server.listen(path, resolve);
    await promise;
    // Whoever asks waits, the command does not for them.
    server.unref();
    return new OrderSocket(server);
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
    say(200, await order((asked.url ?? '').slice(1), JSON.parse(await textOf(asked, MAX_BODY))));
  } catch (error) {
    const { message, code } = error as { message: string; code?: string };
    say(code === 'USAGE' ? 400 : 500, { message });
  }
}

async function textOf(message: IncomingMessage, maxLength: number): Promise<string> {
  let text = '';
  // Whoever says too much is still told so.
  for await (const part of message.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += String(part);
    if (text.length > maxLength) throw new Error(`more than ${maxLength} characters`);
  }
  return text;
}

const isAnswered = async (path: string): Promise<boolean> =>
  askAt(path, 'list', {}).then(
    () => true,
    // Somebody who knows no such order is there all the same.
    (error: unknown) => error instanceof UsageError,
  );

/** Whether an error says that nobody is behind a socket. */
export const isNobody = (error: unknown): boolean =>
  ['ECONNREFUSED', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Has a process do something. Rejects with UsageError where it refuses, and as the system does where nobody is there. */
export async function askAt(path: string, name: string, given: unknown): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const asking = request(
    { socketPath: path, path: `/${name}`, method: 'POST', timeout: PATIENCE_MS },
    resolve,
  );
  asking.once('timeout', () => asking.destroy(new Error(`The process says nothing for ${PATIENCE_MS} ms`)));
  asking.on('error', reject);
  asking.end(JSON.stringify(given));
  const answer = await promise;
  const value = JSON.parse(await textOf(answer, MAX_ANSWER)) as { message?: unknown };
  if (answer.statusCode === 200) return value;
  const message = String(value.message).slice(0, MAX_REFUSAL);
  throw answer.statusCode === 400 ? new UsageError(message) : new Error(message);
}
