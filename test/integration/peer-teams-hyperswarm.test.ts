import { peerTeamsSuite } from '../conformance/peer-teams.suite.ts';
import { NODE_NETWORKS } from '../fixtures/peers/node-networks.ts';

peerTeamsSuite('Hyperswarm', NODE_NETWORKS.Hyperswarm);
