import { peerNodesSuite } from '../conformance/peer-nodes.suite.ts';
import { NODE_NETWORKS } from '../fixtures/peers/node-networks.ts';

peerNodesSuite('WebSocket', NODE_NETWORKS.WebSocket);
