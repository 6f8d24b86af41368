import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createWebSocketReceiver } from '@statelyai/inspect';
import { afterEach, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { until } from '../../../../test/fixtures/until.ts';
import { Orrery } from '../spawn-orrery.ts';

const agents = fileURLToPath(new URL('../../../../test/fixtures/agents/living.agent.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'orrery-stately-'));
const running: Orrery[] = [];
let relay: WebSocketServer | undefined;

afterEach(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL');
  relay?.close();
  for (const client of relay?.clients ?? []) client.terminate();
  rmSync(folder, { recursive: true, force: true });
});

function start(...words: string[]): Orrery {
  const command = new Orrery(words, { env: { XDG_RUNTIME_DIR: folder } });
  running.push(command);
  return command;
}

/** Passes on what each says to all others, as the inspector's own server does. */
async function startRelay(): Promise<string> {
  relay = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  const { clients } = relay;
  relay.on('connection', (socket) =>
    socket.on('message', (data) => {
      for (const other of clients)
        if (other !== socket && other.readyState === WebSocket.OPEN) other.send(String(data));
    }),
  );
  await once(relay, 'listening');
  return `ws://127.0.0.1:${(relay.address() as AddressInfo).port}`;
}

it('shows the machines of a running team in an inspector of Stately’s (F-08)', async () => {
  const server = await startRelay();
  const seen: { type: string; name?: string; sessionId: string; snapshot?: { value?: unknown } }[] = [];
  createWebSocketReceiver({ server }).subscribe((event) => void seen.push(event as (typeof seen)[number]));
  await until('the inspector listens', () => relay?.clients.size === 1);
  const up = start('up', '--port', '0', '--json', '--agents', agents);
  await up.printed('"ready"');
  const lines = up.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>);
  const url = lines.find(({ type }) => type === 'serving')?.['url'];
  const token = lines.find(({ type }) => type === 'token')?.['token'];
  const stately = start('stately', '--to', server);
  await stately.printed('Ctrl-C ends it');
  await until('both are there', () => relay?.clients.size === 2);
  const asked = await fetch(`${url}/rpc`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: {
        tenant: 'living',
        message: {
          messageId: 'm-1',
          role: 'ROLE_USER',
          parts: [{ data: { tool: 'living.add', arguments: 1 } }],
        },
      },
    }),
  });
  expect(asked.status).toBe(200);
  const task = () => seen.find(({ type, name }) => type === '@xstate.actor' && name?.includes(': task '));
  const values = () =>
    seen
      .filter(({ type, sessionId }) => type === '@xstate.snapshot' && sessionId === task()?.sessionId)
      .map(({ snapshot }) => snapshot?.value);
  await until('the task is over', () => values().includes('completed'));
  expect(values()).toEqual(['working', 'completed']);
  expect(task()).toMatchObject({ snapshot: { value: 'submitted' } });
  stately.child.kill('SIGINT');
  expect((await stately.ended).code).toBe(130);
});
