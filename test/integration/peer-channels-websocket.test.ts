import { peerChannelsSuite } from '../conformance/peer-channels.suite.ts';
import { NODE_NETWORKS } from '../fixtures/peers/node-networks.ts';

peerChannelsSuite('WebSocket', NODE_NETWORKS.WebSocket);
