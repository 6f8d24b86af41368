import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newCertificates } from '../../../../test/fixtures/certificate.ts';
import { freePort } from '../../../../test/fixtures/free-port.ts';
import { type NodeCommand, nodesOfTest, trusted } from '../node-command.ts';

const nodes = nodesOfTest();
const { start } = nodes;

/** Oslo dials rome at the first address that rome prints, and works with it. */
async function work(rome: NodeCommand, transport: string, env: NodeJS.ProcessEnv = {}): Promise<NodeCommand> {
  const [address = ''] = rome.line.addresses;
  const oslo = await start('oslo', ['--peer', address, `--peer-trust=${trusted(rome)}`], env);
  await rome.trust(trusted(oslo));
  await Promise.all([rome.sees('oslo'), oslo.sees('rome')]);
  expect(await oslo.passes('rome', 'asked')).toContain('asked in rome');
  expect(await oslo.sees('rome')).toMatchObject({ transport, address });
  return oslo;
}

describe('orrery up --peer (N-3.6)', () => {
  it('dials a multiaddr of libp2p', async () => {
    const rome = await start('rome', ['--peer-listen', `/ip4/127.0.0.1/tcp/${await freePort()}`]);
    expect(rome.line.addresses).toEqual([expect.stringMatching(/^\/ip4\/127\.0\.0\.1\/tcp\/\d+\/p2p\/\w+$/)]);
    await work(rome, 'libp2p');
    expect(await rome.passes('oslo', 'asked')).toContain('asked in oslo');
  });

  it('dials wss://, where the authority that has signed is named in NODE_EXTRA_CA_CERTS', async () => {
    const { ca, cert, key } = newCertificates();
    const at = (name: string, text: string): string => {
      const path = join(nodes.folder, name);
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    };
    const port = await freePort();
    const words = ['--peer-listen', `127.0.0.1:${port}`, '--tls-key', at('key.pem', key)];
    const address = `wss://localhost:${port}/orrery`;
    const rome = await start('rome', [
      ...words,
      '--tls-cert',
      at('cert.pem', cert),
      '--peer-address',
      address,
    ]);
    expect(rome.line).toMatchObject({ addresses: [address], isPlain: false });
    // Whoever does not know the authority gets no connection.
    const bern = await start('bern', ['--peer', address, `--peer-trust=${trusted(rome)}`]);
    await rome.trust(trusted(bern));
    await work(rome, 'websocket', { NODE_EXTRA_CA_CERTS: at('ca.pem', ca) });
    expect((await rome.list()).peers.map(({ node }) => node)).toEqual(['oslo']);
    expect((await bern.list()).peers).toEqual([]);
  });
});
