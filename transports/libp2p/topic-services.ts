import { gossipsub } from '@libp2p/gossipsub';
import { kadDHT, passthroughMapper } from '@libp2p/kad-dht';
import { ping } from '@libp2p/ping';
import { CID } from 'multiformats/cid';
import { create } from 'multiformats/hashes/digest';
import { topicKey } from '../topics/topic-name.ts';
import { MAX_MESSAGE_BYTES, RECORD_MS } from './topic-limits.ts';

const RAW = 0x55;
const SHA_256 = 0x12;
/** What crosses at once, in several messages or without any. */
const MAX_GOSSIP_BYTES = 4 * MAX_MESSAGE_BYTES;
const MAX_GOSSIP_ITEMS = 256;
const MAX_PEER_INFOS = 16;
/** Of what a peer says it subscribes to; a topic takes about a kilobyte. */
const MAX_TOPIC_BYTES_PER_PEER = 131_072;
/** How often records of others are looked through for those that have ended, milliseconds. */
const CLEANUP_MS = 60_000;

/**
 * What finds peers by a topic: a Kademlia DHT of its own, and gossip.
 *
 * The DHT takes private addresses. The public one of libp2p does not, but two machines of one network find each other by nothing
 * else. An end that listens nowhere answers nobody.
 */
export const topicServices = (isListening: boolean) => ({
  ping: ping(),
  dht: kadDHT({
    protocol: '/orrery/kad/1.0.0',
    clientMode: !isListening,
    peerInfoMapper: passthroughMapper,
    // The first end of all has nobody to ask.
    allowQueryWithZeroPeers: true,
    reprovide: { validity: RECORD_MS, threshold: RECORD_MS / 2, interval: CLEANUP_MS },
  }),
  gossip: gossipsub({
    globalSignaturePolicy: 'StrictSign',
    allowPublishToZeroTopicPeers: true,
    runOnLimitedConnection: true,
    maxInboundDataLength: MAX_GOSSIP_BYTES,
    maxOutboundBufferSize: 4 * MAX_GOSSIP_BYTES,
    maxTopicBytesPerPeer: MAX_TOPIC_BYTES_PER_PEER,
    decodeRpcLimits: {
      maxSubscriptions: MAX_GOSSIP_ITEMS,
      maxMessages: MAX_GOSSIP_ITEMS,
      maxIhaveMessageIDs: MAX_GOSSIP_ITEMS,
      maxIwantMessageIDs: MAX_GOSSIP_ITEMS,
      maxIdontwantMessageIDs: MAX_GOSSIP_ITEMS,
      maxControlMessages: MAX_GOSSIP_ITEMS,
      maxPeerInfos: MAX_PEER_INFOS,
    },
  }),
});

/** What ends of a topic provide in the DHT. */
export const topicCid = (topic: string): CID => CID.createV1(RAW, create(SHA_256, topicKey(topic)));
