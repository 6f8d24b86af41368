import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { systemSeams } from 'orrery';
import { CRDTSyncChannel, InProcessHub, memberKeyPair, SyncMembership } from 'orrery/shared-state';
import * as Y from 'yjs';
import type { Contender, Session } from '../measurement.ts';

const CHANNEL = 'bench';
const MEMBERS = ['writer', 'reader'] as const;
const KEYS = 512;
/** Updates that are on their way at a time. */
const AT_ONCE = 256;

/** Writes `count` times into a document, letting the other end catch up, and waits until that has everything. */
async function write(
  document: Y.Doc,
  { from, count, applied }: { from: number; count: number; applied: () => number },
): Promise<void> {
  const map = document.getMap<number>('findings');
  for (let at = from; at < from + count; at++) {
    map.set(`key-${at % KEYS}`, at);
    while (at - applied() >= AT_ONCE) await nextTurn();
  }
  while (applied() < from + count) await nextTurn();
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Two members in one thread, as `orrery/shared-state` has them: signed, in causal order, tried on a shadow first. */
export const orrerySharedState: Contender = {
  name: 'orrery',
  open: async (): Promise<Session> => {
    const hub = new InProcessHub();
    const membership = new SyncMembership();
    const open = (agentId: string): Promise<CRDTSyncChannel> => {
      const { publicKey, privateKey } = memberKeyPair();
      membership.join({ agentId, tier: 2, publicKey });
      const deps = { seams: systemSeams(), medium: hub.connect(agentId), membership };
      return CRDTSyncChannel.open(deps, { channelId: CHANNEL, agentId, privateKey });
    };
    const [writer, reader] = (await Promise.all(MEMBERS.map(open))) as [CRDTSyncChannel, CRDTSyncChannel];
    const applied = (): number => reader.counts().applied;
    let from = 0;
    return {
      run: async (count) => {
        await write(writer.document, { from, count, applied });
        from += count;
      },
      close: async () => {
        await Promise.all([writer.close(), reader.close()]);
      },
    };
  },
};

/** The same documents joined by hand: each update is copied and applied in the next microtask. */
const bareYjs = (name: string, pass: (update: Uint8Array) => Uint8Array): Contender => ({
  name,
  packages: ['yjs'],
  open: async (): Promise<Session> => {
    const [writer, reader] = [new Y.Doc(), new Y.Doc()];
    let from = 0;
    let done = 0;
    writer.on('update', (update: Uint8Array) => {
      const copy = structuredClone(pass(update));
      queueMicrotask(() => {
        Y.applyUpdate(reader, copy);
        done += 1;
      });
    });
    return {
      run: async (count) => {
        await write(writer, { from, count, applied: () => done });
        from += count;
      },
      close: async () => {
        writer.destroy();
        reader.destroy();
      },
    };
  },
});

const { publicKey, privateKey } = generateKeyPairSync('ed25519');

export const plainYjs = bareYjs('bare Yjs', (update) => update);

export const signedYjs = bareYjs('bare Yjs, signed', (update) => {
  const signature = sign(null, update, privateKey);
  if (!verify(null, update, publicKey, signature)) throw new Error('The signature does not fit');
  return update;
});
