import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyInFile } from 'orrery';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { NodeCommand } from '../node-command.ts';

const createTestnet = createRequire(import.meta.url)('hyperdht/testnet.js') as (
  size: number,
) => Promise<{ bootstrap: { host: string; port: number }[]; destroy(): Promise<void> }>;

describe('orrery up --join (N-3.6, C-33)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-topic-'));
  const running: NodeCommand[] = [];
  let testnet: Awaited<ReturnType<typeof createTestnet>>;

  beforeAll(async () => {
    testnet = await createTestnet(3);
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((node) => node.stop('SIGKILL')));
  });
  afterAll(async () => {
    await testnet.destroy();
    rmSync(folder, { recursive: true, force: true });
  });

  it('finds others by a topic over a DHT of its own', async () => {
    const file = (node: string): string => join(folder, `${node}.pem`);
    const [ofRome, ofOslo] = [await keyInFile(file('rome')), await keyInFile(file('oslo'))];
    const start = async (node: string, trusted: string): Promise<NodeCommand> => {
      const bootstrap = testnet.bootstrap.map(({ host, port }) => `${host}:${port}`).join(',');
      const started = await NodeCommand.start(
        node,
        join(folder, node),
        ...['--join', 'a topic of this test', '--peer-bootstrap', bootstrap],
        ...['--peer-key', file(node), `--peer-trust=${trusted}`],
      );
      running.push(started);
      return started;
    };
    const rome = await start('rome', `${ofOslo.publicKey}=oslo`);
    const oslo = await start('oslo', `${ofRome.publicKey}=rome`);
    expect(await oslo.sees('rome')).toMatchObject({ transport: 'hyperswarm' });
    await rome.sees('oslo');
    expect(await oslo.passes('rome', 'found')).toContain('found in rome');
  });
});
