import { peerTeamsSuite } from '../conformance/peer-teams.suite.ts';
import { NODE_NETWORKS } from '../fixtures/peers/node-networks.ts';

peerTeamsSuite('libp2p', NODE_NETWORKS.libp2p);
