import { expect, it } from 'vitest';
import { type NodeCommand, nodesOfTest } from '../node-command.ts';

const { start } = nodesOfTest();

/** The first key of the table of those that were refused. */
async function refusedAt(node: NodeCommand, by: string): Promise<string> {
  while ((await node.list()).refused.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  const { stdout } = await node.peers();
  const row = new RegExp(`^(\\S{43}) +\\w+ +.+ ago +\\d+ +${by} +.*is not trusted here$`, 'm').exec(stdout);
  expect(stdout).toContain("'orrery peers --trust=KEY=NAME' lets one in");
  return String(row?.[1]);
}

it('orrery peers shows the keys that were refused, which are let in by --trust, at both ends (C-31)', async () => {
  const rome = await start('rome', []);
  const oslo = await start('oslo', ['--peer', String(rome.line.addresses[0])]);
  expect(await refusedAt(rome, 'websocket')).toBe(oslo.line.publicKey);
  expect(JSON.parse((await rome.peers('--json')).stdout)).toMatchObject({
    peers: [],
    refused: [{ publicKey: oslo.line.publicKey, node: 'oslo', transport: 'websocket' }],
  });
  await rome.trust(`${oslo.line.publicKey}=oslo`);
  expect((await rome.list()).refused).toEqual([]);
  // Now it is oslo that does not know whom it has dialled.
  expect(await refusedAt(oslo, 'dialled')).toBe(rome.line.publicKey);
  expect(await oslo.peers(`--trust=${rome.line.publicKey}=rome`)).toMatchObject({ code: 0, stderr: '' });
  await Promise.all([rome.sees('oslo'), oslo.sees('rome')]);
  for (const node of [rome, oslo]) {
    expect((await node.list()).refused).toEqual([]);
    expect((await node.peers()).stdout).not.toContain('REFUSED KEY');
  }
});
