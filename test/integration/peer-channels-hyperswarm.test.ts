import { peerChannelsSuite } from '../conformance/peer-channels.suite.ts';
import { NODE_NETWORKS } from '../fixtures/peers/node-networks.ts';

peerChannelsSuite('Hyperswarm', NODE_NETWORKS.Hyperswarm);
