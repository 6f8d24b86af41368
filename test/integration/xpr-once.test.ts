import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSystem, systemSeams } from 'orrery';
import { xprSignature } from 'orrery/admission/xpr';
import { type Serving, serve } from 'orrery/gateway';
import { chainRpc, xprBinding } from 'orrery/xpr';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publicKeyOfPrivate } from '../../gateway/xpr/chain/k1-signature.ts';
import { ChainNode } from '../fixtures/chain-node.ts';
import { ALICES_KEY } from '../fixtures/k1-keys.ts';
import { type Answer, post, sending } from '../fixtures/xpr-calls.ts';
import { marsWith } from '../fixtures/xpr-gateway.ts';

const { clock } = systemSeams();
let node: ChainNode;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-once-'));
  node = await ChainNode.start();
  node.keys.set('alice', [publicKeyOfPrivate(ALICES_KEY)]);
  node.agents.set('alice', { account: 'alice', owner: 'alice' });
});
afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A system and two gateways that know nothing of each other; the second asks for signatures on its other paths too. */
async function twice(journal?: string) {
  const accounts = chainRpc({ endpoint: node.endpoint }, systemSeams());
  const system = await startSystem({
    agents: [marsWith(async () => undefined)],
    workers: 1,
    spareThread: false,
    ...(journal === undefined ? {} : { journal: { path: journal } }),
  });
  const serving = (more = {}): Promise<Serving> =>
    serve(system, { entry: 'mars', bindings: [xprBinding({ accounts })], ...more });
  const served = await serving();
  const other = await serving({ authenticators: [xprSignature({}, { clock, accounts })] });
  return { system, served, other, stop: () => system.stop() };
}

const letIn = async (answer: Promise<Answer>): Promise<void> =>
  expect((await answer).body.result?.status.state).toBe('completed');
const refused = async (answer: Promise<Answer>): Promise<void> => {
  const { error } = (await answer).body;
  expect(error).toMatchObject({ code: -32_000, data: { reason: 'UNAUTHENTICATED' } });
  expect(JSON.stringify(error?.data)).toContain('before');
};

describe('A signed request', () => {
  it('is let in once by all gateways on one journal, also after a restart, where another passes (X-52)', async () => {
    const journal = join(folder, 'journal.db');
    // The same bytes, second and signature, as whoever listens on the way has them.
    const signing = { atMs: clock.now() };
    const same = sending('once');
    const first = await twice(journal);
    await letIn(post({ served: first.served, clock }, same, { signing }));
    await refused(post({ served: first.served, clock }, same, { signing }));
    await refused(post({ served: first.other, clock }, same, { signing }));
    expect((await post({ served: first.other, clock }, same, { signing, path: '/rpc' })).status).toBe(401);
    const both = [first.served, first.other].map((served) =>
      post({ served, clock }, sending('at once'), { signing }),
    );
    const states = (await Promise.all(both)).map(({ body }) => body.result?.status.state);
    expect(states.filter((state) => state === 'completed')).toHaveLength(1);
    await letIn(post({ served: first.other, clock }, sending('another'), { signing }));
    await first.stop();

    const second = await twice(journal);
    for (const words of ['once', 'at once', 'another'])
      await refused(post({ served: second.other, clock }, sending(words), { signing }));
    await letIn(post({ served: second.served, clock }, sending('a third'), { signing }));
    await second.stop();
  });

  it('is let in once by all gateways of a system without a journal, as long as it lives', async () => {
    const signing = { atMs: clock.now() };
    const { served, other, stop } = await twice();
    await letIn(post({ served, clock }, sending('once'), { signing }));
    await refused(post({ served: other, clock }, sending('once'), { signing }));
    await letIn(post({ served: other, clock }, sending('another'), { signing }));
    await stop();
  });
});
