import { libp2p } from 'orrery/libp2p';
import { peerTopicsSuite } from '../conformance/peer-topics.suite.ts';

peerTopicsSuite('libp2p', async () => {
  const known = libp2p({ topics: true });
  const { address } = await known.listen(() => undefined);
  return {
    joining: () => libp2p({ bootstrap: [address], searchMs: 2_000 }),
    [Symbol.asyncDispose]: () => known.close(),
  };
});
