import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { z } from 'zod';
import { TOLD_WORK, WORK } from './server-order.ts';

/** So many requests are under way at once, each on a connection of its own that is kept open. */
export const CONNECTIONS = 64;

const Answer = z.looseObject({ result: z.unknown().optional(), error: z.unknown().optional() });
const Sent = z.looseObject({
  task: z.looseObject({
    id: z.string(),
    status: z.looseObject({ state: z.string() }),
    artifacts: z.array(z.looseObject({ parts: z.array(z.unknown()) })).optional(),
  }),
});

/** Asks a server in the words of A2A 1.0 over JSON-RPC. What is answered otherwise than it should be rejects. */
export class BenchClient {
  readonly #pool: Pool;
  readonly #path: string;

  constructor(url: string) {
    const { origin, pathname } = new URL(url);
    this.#pool = new Pool(origin, {
      connections: CONNECTIONS,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#path = pathname;
  }

  /** A message whose task is completed in the answer; resolves to its id. */
  async send(text = WORK): Promise<string> {
    const { task } = Sent.parse(await this.#call('SendMessage', { message: messageOf(text) }));
    if (task.status.state !== 'TASK_STATE_COMPLETED') throw new Error(`The task is ${task.status.state}`);
    return task.id;
  }

  async get(id: string): Promise<void> {
    const answer = await this.#post('GetTask', { id });
    if (!answer.includes(id)) throw new Error(`There is no task: ${answer}`);
  }

  async list(pageSize: number): Promise<void> {
    const answer = await this.#post('ListTasks', { pageSize });
    if (!answer.includes(`"pageSize":${pageSize}`))
      throw new Error(`There is no page: ${answer.slice(0, 300)}`);
  }

  /** A message that is streamed to its end, with at least so many events. */
  async stream(events: number): Promise<void> {
    const answer = await this.#post(
      'SendStreamingMessage',
      { message: messageOf(TOLD_WORK) },
      'text/event-stream',
    );
    const count = answer.split(/^data:/m).length - 1;
    if (count < events || !answer.includes('TASK_STATE_COMPLETED'))
      throw new Error(`There were ${count} events: ${answer.slice(0, 2_000)}`);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #call(method: string, params: object): Promise<unknown> {
    const { result, error } = Answer.parse(JSON.parse(await this.#post(method, params)));
    if (error !== undefined) throw new Error(JSON.stringify(error));
    return result;
  }

  async #post(method: string, params: object, accept = 'application/json'): Promise<string> {
    const { body } = await this.#pool.request({
      path: this.#path,
      method: 'POST',
      headers: { 'content-type': 'application/json', accept, 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return body.text();
  }
}

const messageOf = (text: string) => ({ messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }] });
