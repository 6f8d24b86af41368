import { createRequire } from 'node:module';
import { join } from 'node:path';
import { keyInFile } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type NodeCommand, nodesOfTest } from '../node-command.ts';

const createTestnet = createRequire(import.meta.url)('hyperdht/testnet.js') as (
  size: number,
) => Promise<{ bootstrap: { host: string; port: number }[]; destroy(): Promise<void> }>;

describe('orrery up --join (N-3.6, C-33)', () => {
  const nodes = nodesOfTest();
  let testnet: Awaited<ReturnType<typeof createTestnet>>;

  beforeAll(async () => {
    testnet = await createTestnet(3);
  });
  afterAll(() => testnet.destroy());

  it('finds others by a topic over a DHT of its own', async () => {
    const file = (node: string): string => join(nodes.folder, `${node}.pem`);
    const [ofRome, ofOslo] = [await keyInFile(file('rome')), await keyInFile(file('oslo'))];
    const start = (node: string, trusted: string): Promise<NodeCommand> => {
      const bootstrap = testnet.bootstrap.map(({ host, port }) => `${host}:${port}`).join(',');
      const topic = ['--join', 'a topic of this test', '--peer-bootstrap', bootstrap];
      return nodes.start(node, [...topic, '--peer-key', file(node), `--peer-trust=${trusted}`]);
    };
    const rome = await start('rome', `${ofOslo.publicKey}=oslo`);
    const oslo = await start('oslo', `${ofRome.publicKey}=rome`);
    expect(await oslo.sees('rome')).toMatchObject({ transport: 'hyperswarm' });
    await rome.sees('oslo');
    expect(await oslo.passes('rome', 'found')).toContain('found in rome');
  });
});
