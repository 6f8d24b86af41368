import { peerChannelsSuite } from '../conformance/peer-channels.suite.ts';
import { NODE_NETWORKS } from '../fixtures/peers/node-networks.ts';

peerChannelsSuite('libp2p', NODE_NETWORKS.libp2p);
