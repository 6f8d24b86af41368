import { readFileSync } from 'node:fs';
import { serve } from 'orrery/gateway';
import { startSystem } from 'orrery';
import { expect, it } from 'vitest';
import { filesEntered } from '../fixtures/files-entered.ts';
import { agent } from '../fixtures/until.ts';

const PAGE = new URL('../../docs/internals/gateway.md', import.meta.url);

/** What the page lists as entered, in its order. */
function listed(): string[] {
  const [, section = ''] = readFileSync(PAGE, 'utf8').split('## The files that a message enters\n');
  const lines = (section.split('\n## ')[0] as string).split('\n').filter((line) => line.startsWith('- '));
  return lines.flatMap((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, path]) => path as string));
}

it('a SendMessage enters the files of the gateway and of tasks that the page lists, and no others', async () => {
  await using system = await startSystem({ agents: [agent('greeter')], workers: 1, spareThread: false });
  const { url } = await serve(system);
  let sent = 0;
  const send = async (): Promise<void> => {
    sent += 1;
    const data = { tool: 'greeting.make', arguments: { name: 'you' } };
    const message = { messageId: `m${sent}`, role: 'ROLE_USER', parts: [{ data }] };
    const response = await fetch(`${url}/greeter/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: sent, method: 'SendMessage', params: { message } }),
    });
    expect(await response.text()).toContain('hello, you');
  };
  const { files } = await filesEntered(async (times) => {
    for (let done = 0; done < times; done++) await send();
  });
  expect(files.filter((file) => /^(gateway|actors)/.test(file))).toEqual(listed().sort());
});
