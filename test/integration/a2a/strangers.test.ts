import { startSystem, type Team } from 'orrery';
import { apiKeys, newApiKey } from 'orrery/admission';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemGateway, serve } from 'orrery/gateway';
import { systemClock } from '../../../runtime/protocol/system-seams.ts';
import { agent } from '../../fixtures/until.ts';

const { key, record } = newApiKey({ kind: 'service', tenant: 'acme' });
const authenticators = [apiKeys([record], { clock: systemClock })];

type Fetch = (request: Request) => Promise<Response>;
interface Answer {
  readonly result?: { readonly task?: Seen; readonly tasks?: readonly Seen[] };
  readonly error?: { readonly code: number; readonly message: string };
}
interface Seen {
  readonly id: string;
  readonly contextId: string;
}

async function call(send: Fetch, method: string, params: object, headers = {}): Promise<Answer> {
  const request = new Request('http://127.0.0.1:1/greeter/rpc', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return (await send(request)).json() as Promise<Answer>;
}

const over =
  ({ url }: { readonly url: string }): Fetch =>
  async (request) =>
    fetch(new Request(`${url}${new URL(request.url).pathname}`, request));

const say = (send: Fetch, messageId: string, headers = {}): Promise<Answer> =>
  call(
    send,
    'SendMessage',
    {
      message: {
        messageId,
        role: 'ROLE_USER',
        parts: [{ data: { tool: 'greeting.make', arguments: { name: 'you' } } }],
      },
    },
    headers,
  );

describe('callers that prove nothing (C-24)', () => {
  let system: Team;
  beforeAll(async () => {
    system = await startSystem({ agents: [agent('greeter')], workers: 1, spareThread: false });
  });
  afterAll(() => system.stop({ drainMs: 0 }));

  it('cannot guess the tasks and conversations of each other', async () => {
    await using serving = await serve(system, { anonymous: true, authenticators });
    const seen = await Promise.all(['g1', 'g2', 'g3'].map((id) => say(over(serving), id)));
    const names = seen.flatMap(({ result }) => [result?.task?.id ?? '', result?.task?.contextId ?? '']);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(Buffer.from(name, 'base64url')).toHaveLength(16);
  });

  it('are shown no list of what all of them have, but that of a conversation they know of', async () => {
    const gateway = await createSystemGateway(system, { anonymous: true });
    const wide = await serve(system, { anonymous: true, authenticators, publicUrl: 'https://a.example' });
    const aside = await serve(system, { anonymous: true, authenticators, grpc: { host: '0.0.0.0' } });
    const overPort = [wide, aside].map(over);
    for (const [at, send] of [gateway.fetch, ...overPort].entries()) {
      const { result } = await say(send, `list-${at}`);
      const { error } = await call(send, 'ListTasks', {});
      expect(error?.code).toBe(-32_602);
      expect(error?.message).toContain('contextId');
      const { contextId, id } = result?.task ?? { contextId: '', id: '' };
      const listed = await call(send, 'ListTasks', { contextId });
      expect(listed.result?.tasks?.map((task) => task.id)).toEqual([id]);
    }
    const mine = await say(over(wide), 'mine', { 'x-api-key': key });
    const all = await call(over(wide), 'ListTasks', {}, { 'x-api-key': key });
    expect(all.result?.tasks?.map(({ id }) => id)).toEqual([mine.result?.task?.id]);
    await Promise.all([gateway.close(), wide.close(), aside.close()]);
  });

  it('are one and the same where nobody but this machine can be one', async () => {
    await using serving = await system.serve();
    const { result } = await say(over(serving), 'local');
    const listed = await call(over(serving), 'ListTasks', {});
    expect(listed.result?.tasks?.map(({ id }) => id)).toContain(result?.task?.id);
  });
});
