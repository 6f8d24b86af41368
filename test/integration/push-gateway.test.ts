import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { capability, defineAgent, startSystem, type Team } from 'orrery';
import { type ServeOptions, SeenNotifications, verifyNotification } from 'orrery/gateway';
import { z } from 'zod';
import { PushReceiver } from '../fixtures/push-receiver.ts';
import { rejection, until } from '../fixtures/until.ts';

const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

const answer = capability({
  id: 'say.answer',
  description: 'Answers',
  input: z.string(),
  output: z.string(),
});
const adviser = defineAgent({
  id: 'adviser',
  name: 'Adviser',
  version: '1.0.0',
  description: 'Answers',
  tier: 2,
}).handle(answer, async (text) => `You said: ${text}`);

const OPTIONS: ServeOptions = {
  entry: 'adviser',
  publicUrl: 'https://gateway.example',
  a2a: {
    push: {
      firstMs: 20,
      longestMs: 40,
      attempts: 1_000,
      targets: { allowHttp: true, allowPrivate: (address) => address === '127.0.0.1' },
    },
  },
};

async function start(journal?: string, options = OPTIONS): Promise<{ team: Team; url: string }> {
  const team = await startSystem({
    agents: [adviser],
    ...(journal === undefined ? {} : { journal: { path: journal } }),
  });
  const serving = await team.serve(options);
  return { team, url: serving.url };
}

interface RpcAnswer {
  readonly result?: { readonly task: { readonly id: string }; readonly tasks: readonly unknown[] };
  readonly error?: { readonly code: number; readonly message: string };
}

async function call(url: string, method: string, params: object, version = '1.0') {
  const response = await fetch(`${url}/rpc`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'A2A-Version': version },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return (await response.json()) as RpcAnswer;
}

const messageOf = (id: string) => ({ messageId: id, role: 'ROLE_USER', parts: [{ text: 'hello' }] });

const send = (url: string, id: string, hook: string) =>
  call(url, 'SendMessage', {
    message: messageOf(id),
    configuration: { taskPushNotificationConfig: { url: hook, token: 't0k' } },
  });

describe('push notifications of a gateway', () => {
  it('tell a receiver of a message’s task, and can be verified by the keys that the gateway serves', async () => {
    const { team, url } = await start();
    ended.push(() => team.stop());
    const hook = await PushReceiver.start();
    ended.push(() => hook.kill());
    const { result } = await send(url, 'm1', hook.url);
    const taskId = result?.task.id;
    await until('the end', () =>
      hook.posts.some(({ json }) => json.statusUpdate?.status.state === 'TASK_STATE_COMPLETED'),
    );
    const told = hook.posts.map(({ json }) => Object.keys(json)[0]);
    expect(told).toContain('artifactUpdate');
    expect(told.at(-1)).toBe('statusUpdate');
    const seen = new SeenNotifications();
    const options = {
      jwks: new URL(`${url}/.well-known/jwks.json`),
      audience: new URL(hook.url).origin,
      issuer: 'https://gateway.example',
      token: 't0k',
      seen,
    };
    for (const { headers, body, json } of hook.posts) {
      const received = { headers: new Headers(headers as Record<string, string>), body };
      expect(await verifyNotification(received, options)).toMatchObject({ taskId, news: json });
      expect((await rejection(verifyNotification(received, options))).code).toBe('UNAUTHENTICATED');
    }
    const metricsOf = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
    // What has been told counts when the gateway has heard the answer to it.
    await until('all of it is taken', async () =>
      (await metricsOf()).includes(`orrery_gateway_push_taken_total ${hook.posts.length}\n`),
    );
    expect(await metricsOf()).toContain('orrery_gateway_push_configs 1');
  });

  it('speak the dialect of who asked for them', async () => {
    const { team, url } = await start();
    ended.push(() => team.stop());
    const hook = await PushReceiver.start();
    ended.push(() => hook.kill());
    const message = {
      kind: 'message',
      messageId: 'm1',
      role: 'user',
      parts: [{ kind: 'text', text: 'hello' }],
    };
    const configuration = { blocking: true, pushNotificationConfig: { url: hook.url } };
    await call(url, 'message/send', { message, configuration }, '0.3');
    await until('the end', () => hook.posts.some(({ json }) => json.status?.state === 'completed'));
    expect(hook.posts.at(-1)?.json).toMatchObject({ kind: 'task', status: { state: 'completed' } });
  });

  it('are refused with the message when they would go where they may not, and nothing is done', async () => {
    const { team, url } = await start(undefined, { entry: 'adviser' });
    ended.push(() => team.stop());
    for (const hook of ['http://127.0.0.1:1/', 'https://[::ffff:169.254.169.254]/', 'https://localhost/']) {
      const { error } = await send(url, hook, hook);
      expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining('url is') });
    }
    expect((await call(url, 'ListTasks', {})).result?.tasks).toEqual([]);
  });

  it('of a receiver that was dead reach it when the system is another process by then', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'orrery-push-'));
    ended.push(() => rm(folder, { recursive: true, force: true }));
    const journal = join(folder, 'journal.db');
    const dead = await PushReceiver.start();
    const { port, url: hookUrl } = dead;
    await dead.kill();
    const first = await start(journal);
    const { result } = await send(first.url, 'm1', hookUrl);
    const taskId = result?.task.id;
    await first.team.stop();
    const hook = await PushReceiver.start(undefined, { port });
    ended.push(() => hook.kill());
    const second = await start(journal);
    ended.push(() => second.team.stop());
    await until('the end', () =>
      hook.posts.some(({ json }) => json.statusUpdate?.status.state === 'TASK_STATE_COMPLETED'),
    );
    expect(hook.posts.every(({ json }) => (json.statusUpdate ?? json.artifactUpdate).taskId === taskId)).toBe(
      true,
    );
    expect(hook.posts.map(({ json }) => Object.keys(json)[0])).toContain('artifactUpdate');
  });

  it('that are given up on are events of the system', async () => {
    const { team, url } = await start();
    ended.push(() => team.stop());
    const hook = await PushReceiver.start((_at, response) => void response.writeHead(410).end());
    ended.push(() => hook.kill());
    await send(url, 'm1', hook.url);
    const origin = new URL(hook.url).origin;
    await until('the event', async () =>
      (await team.recentEvents()).some(
        ({ errorCode, reason }) =>
          errorCode === 'DELIVERY_FAILED' && reason?.includes(`${origin} is not told of it any more`),
      ),
    );
  });
});
