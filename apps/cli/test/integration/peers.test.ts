import { createPrivateKey } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BareNode } from '../../../../test/fixtures/peers/bare-node.ts';
import { freePort } from '../../../../test/fixtures/free-port.ts';
import { type NodeCommand, nodesOfTest, trusted } from '../node-command.ts';

const nodes = nodesOfTest();
const { start } = nodes;

/** Two machines with two commands: the keys are exchanged as they are printed. */
async function pair(): Promise<{ rome: NodeCommand; oslo: NodeCommand; port: number }> {
  const port = await freePort();
  const rome = await start('rome', ['--peer-listen', `127.0.0.1:${port}`]);
  const [address = ''] = rome.line.addresses;
  const oslo = await start('oslo', ['--peer', address, `--peer-trust=${trusted(rome)}`]);
  await rome.trust(trusted(oslo));
  await Promise.all([rome.sees('oslo'), oslo.sees('rome')]);
  return { rome, oslo, port };
}

describe('orrery up as a node, and orrery peers (N-3.6, C-31)', () => {
  it('works as one team on two machines, shown with since when, by what way and with what round trip', async () => {
    const { rome, oslo } = await pair();
    expect(await oslo.passes('rome', 'asked')).toContain('asked in rome');
    expect(await rome.passes('oslo', 'asked')).toContain('asked in oslo');
    const row = await oslo.sees('rome', ({ roundTripMs }) => roundTripMs !== undefined);
    expect(row).toMatchObject({
      node: 'rome',
      publicKey: rome.line.publicKey,
      status: 'up',
      tier: 2,
      transport: 'websocket',
      address: rome.line.addresses[0],
      agents: ['system/host', 'talker-rome'],
    });
    expect(row.sinceMs).toBeLessThanOrEqual(Date.now());
    expect(JSON.parse((await rome.peers('--json')).stdout)).toMatchObject({
      node: 'rome',
      publicKey: rome.line.publicKey,
      addresses: rome.line.addresses,
      peers: [{ node: 'oslo', status: 'up' }],
    });
    const shown = await oslo.peers('--node', 'oslo');
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toMatch(
      /^rome +up +[\d.]+ (?:ms|s|min \d+ s) +websocket ws:\S+ +[\d.]+ ms +\S{43} +system\/host, talker-rome$/m,
    );
  });

  it('cuts off by name at once, and lets that key in no more, also after a restart', async () => {
    const { rome, oslo, port } = await pair();
    const cut = await rome.peers('--revoke', 'oslo');
    expect(cut).toMatchObject({ code: 0, stderr: '' });
    expect(cut.stdout).toContain(`rome has cut off, and lets in no more, ${oslo.line.publicKey}`);
    expect((await rome.list()).peers).toEqual([]);
    await oslo.sees('rome', ({ status }) => status !== 'up');
    await rome.stop();
    const again = await start('rome', [
      '--peer-listen',
      `127.0.0.1:${port}`,
      `--peer-trust=${trusted(oslo)}`,
    ]);
    expect(again.line).toMatchObject({ publicKey: rome.line.publicKey, alsoRevoked: [oslo.line.publicKey] });
    expect(JSON.parse(readFileSync(again.line.trustFile, 'utf8'))).toEqual({
      trust: [],
      revoked: [oslo.line.publicKey],
    });
    expect((await again.list()).peers).toEqual([]);
    // Until it is trusted again.
    expect(await again.peers(`--trust=${trusted(oslo)}`)).toMatchObject({ code: 0, stderr: '' });
    await again.sees('oslo');
    expect(await oslo.passes('rome', 'again')).toContain('again in rome');
  });

  it('rotates a key: the next one takes over the name, and the old one is refused', async () => {
    const { rome, oslo } = await pair();
    const [address = ''] = rome.line.addresses;
    const words = ['--peer', address, `--peer-trust=${trusted(rome)}`];
    const next = join(nodes.folder, 'next.pem');
    await oslo.stop();
    // Nobody knows the next key yet: it is made, and refused.
    const early = await start('oslo', [...words, '--peer-key', next]);
    await rome.sees('oslo', ({ publicKey }) => publicKey === oslo.line.publicKey);
    expect(early.line.publicKey).not.toBe(oslo.line.publicKey);
    await rome.trust(trusted(early));
    await rome.sees('oslo', (row) => row.status === 'up' && row.publicKey === early.line.publicKey);
    expect(await early.passes('rome', 'rotated')).toContain('rotated in rome');
    expect(await rome.peers('--revoke', oslo.line.publicKey)).toMatchObject({ code: 0 });
    expect(await rome.passes('oslo', 'rotated')).toContain('rotated in oslo');
    const privateKey = createPrivateKey(readFileSync(oslo.line.keyFile));
    const old = { publicKey: oslo.line.publicKey, privateKey };
    await expect(BareNode.open(address, 'oslo', old)).rejects.toMatchObject({ code: 'REFUSED' });
    expect((await rome.list()).peers).toMatchObject([{ node: 'oslo', publicKey: early.line.publicKey }]);
  });

  it('is steered by its own user alone: no caller of the gateway can, and nobody can enter the folder', async () => {
    const rome = await start('rome', []);
    for (const path of ['/peers', '/list', '/revoke', '/trust', '/rpc/revoke'])
      expect((await rome.post({ who: 'oslo' }, path)).status).toBe(404);
    const home = join(nodes.folder, 'rome', 'orrery');
    expect(existsSync(join(home, 'rome.sock'))).toBe(true);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(statSync(rome.line.keyFile).mode & 0o777).toBe(0o600);
    const second = await start('rome', []).catch((error: Error) => error.message);
    expect(second).toContain('Option "--node" is "rome": it runs here already');
    expect(await rome.peers('--revoke', 'nobody')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining(
        'Option "--revoke" is "nobody", expected the key or the name',
      ) as string,
    });
    expect(await rome.peers('--trust', 'nobody')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('Option "--trust" is "nobody", expected KEY or KEY=NAME') as string,
    });
    await rome.stop();
    expect(existsSync(join(home, 'rome.sock'))).toBe(false);
    expect(await rome.peers()).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('No node of this user runs here') as string,
    });
  });

  it('starts over what a killed one has left, and listens on a port that is free alone', async () => {
    const rome = await start('rome', []);
    await rome.stop('SIGKILL');
    const port = await freePort();
    const again = await start('rome', ['--peer-listen', `127.0.0.1:${port}`]);
    expect(again.line.publicKey).toBe(rome.line.publicKey);
    expect(
      await start('oslo', ['--peer-listen', `127.0.0.1:${port}`]).catch((error: Error) => error.message),
    ).toContain('Option "--peer-listen"');
  });
});
