import { libp2p } from 'orrery/libp2p';
import { topicTransportSuite } from './topic-transport.suite.ts';

topicTransportSuite(
  'Libp2pTransport',
  async () => {
    const first = libp2p({ topics: true });
    const { address } = await first.listen(() => undefined);
    const options = { bootstrap: [address] };
    return {
      make: (seed) => libp2p({ ...options, ...(seed === undefined ? {} : { seed }) }),
      process: (seed) => ['orrery/libp2p', 'libp2p', { ...options, seed }],
      close: () => first.close(),
    };
  },
  (address) => address.slice(address.indexOf('/p2p/')),
);
