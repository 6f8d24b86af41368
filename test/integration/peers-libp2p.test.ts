import { peerNodesSuite } from '../conformance/peer-nodes.suite.ts';
import { NODE_NETWORKS } from '../fixtures/peers/node-networks.ts';

peerNodesSuite('libp2p', NODE_NETWORKS.libp2p);
