import type { PeerRow, RefusedPeer, SystemPeers } from 'orrery';
import type { Order } from './order-socket.ts';
import { readTrusted } from './node-plan.ts';
import type { TrustEntry, TrustFile } from './trust-file.ts';
import { UsageError } from './usage-error.ts';

/** What a node says of itself and of the others. */
export interface NodeView {
  readonly node: string;
  readonly publicKey: string;
  readonly addresses: readonly string[];
  readonly peers: readonly PeerRow[];
  readonly refused: readonly RefusedPeer[];
}

/** What has come of trusting or revoking: for which keys, the file that has it now, and why it has not. */
export interface TrustChange {
  readonly keys: readonly string[];
  readonly file: string;
  readonly unkept?: string;
}

interface OrderDeps {
  readonly peers: SystemPeers;
  readonly trustFile: TrustFile;
  /** Entries of the command line, which are in no file. */
  readonly typed: readonly TrustEntry[];
}

/** What `orrery peers` can have a running node do: `list`, `trust` a key, `revoke` a key or a name. */
export function nodeOrders({ peers, trustFile, typed }: OrderDeps): Order {
  const change = (keys: readonly string[], keep: () => void): TrustChange => {
    try {
      keep();
      return { keys, file: trustFile.path };
    } catch (error) {
      return { keys, file: trustFile.path, unkept: (error as Error).message };
    }
  };
  const orders: Readonly<Record<string, (given: { who?: unknown }) => Promise<unknown>>> = {
    list: async (): Promise<NodeView> => ({
      node: String(peers.node),
      publicKey: String(peers.publicKey),
      addresses: peers.addresses,
      peers: await peers.list(),
      refused: await peers.refused(),
    }),
    trust: async ({ who }) => {
      const entry = readTrusted('--trust', String(who));
      await peers.trust(entry).catch(refuse('--trust', who));
      return change([entry.key], () => trustFile.trusts(entry));
    },
    revoke: async ({ who }) => {
      const keys = await keysOf(String(who), { peers, trustFile, typed });
      // Cut first: what can be written is another matter.
      await Promise.all(keys.map((key) => peers.revoke(key).catch(refuse('--revoke', who))));
      return change(keys, () => trustFile.revokes(keys));
    },
  };
  return async (name, given) => {
    const order = Object.hasOwn(orders, name) ? orders[name] : undefined;
    if (order === undefined) throw new UsageError(`No order "${name}"`);
    return order((given ?? {}) as { who?: unknown });
  };
}

const refuse = (option: string, who: unknown) => (error: unknown) => {
  throw new UsageError(`Option "${option}" is "${String(who)}": ${(error as Error).message}`);
};

/** The keys of everybody who has this name or may have it; or this key itself. */
async function keysOf(who: string, { peers, trustFile, typed }: OrderDeps): Promise<readonly string[]> {
  const rows = (await peers.list()).filter(({ node }) => node === who).map(({ publicKey }) => publicKey);
  const entries = [...listed(trustFile), ...typed].filter(({ node }) => node === who).map(({ key }) => key);
  const keys = [...new Set([...rows, ...entries])].filter((key) => key !== '*');
  if (keys.length > 0) return keys;
  if (/^[\w-]{43}$/.test(who)) return [who];
  throw new UsageError(
    `Option "--revoke" is "${who}", expected the key or the name of a node that is there or trusted`,
  );
}

/** A file that cannot be read keeps nobody from being cut off. */
function listed(trustFile: TrustFile): readonly TrustEntry[] {
  try {
    return trustFile.read().trust;
  } catch {
    return [];
  }
}
