import { mdns } from '@libp2p/mdns';
import type { Libp2p } from 'libp2p';

/** Under a name of its own: libp2p's would call strangers of any other network too. */
const SERVICE = '_orrery._udp.local';
/** How many are called at once. Who is passed over answers again, ten seconds later. */
const MAX_CALLS = 16;

/** Asks this network for ends by multicast, and calls those that answer. */
export function nearbyPeers(runningNode: () => Libp2p | undefined) {
  const start = mdns({ serviceTag: SERVICE });
  let calls = 0;
  return (components: Parameters<typeof start>[0]): ReturnType<typeof start> => {
    const discovery = start(components);
    discovery.addEventListener('peer', ({ detail: { id, multiaddrs } }) => {
      const node = runningNode();
      if (node === undefined || calls >= MAX_CALLS || node.getConnections(id).length > 0) return;
      calls += 1;
      const calling = node.peerStore.merge(id, { multiaddrs }).then(() => node.dial(id));
      // Whoever cannot be reached is no end to connect to.
      void calling
        .catch(() => undefined)
        .finally(() => {
          calls -= 1;
        });
    });
    return discovery;
  };
}
