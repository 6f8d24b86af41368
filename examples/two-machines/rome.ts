/**
 * One machine: an agent that others may ask, until Control-C. `rome.ts KEY_OF_OSLO`; without it, it lets nobody in.
 * Prints its key and where it is.
 */
import { defineAgent, startSystem } from 'orrery';
import { webSocket } from 'orrery/websocket';
import { shout } from './shout.ts';

const venus = defineAgent({ id: 'venus', name: 'VENUS', version: '1.0.0', description: 'Shouts', tier: 2 });
const system = await startSystem({
  agents: [venus.handle(shout, (text, ctx) => `${text.toUpperCase()}! (to ${ctx.envelope.sender})`)],
  peers: {
    transports: [webSocket()],
    identity: { node: 'rome', key: 'rome.pem' },
    trust: process.argv.slice(2).map((key) => ({ key, tier: 2, sandboxId: null })),
  },
});
console.log(system.peers.publicKey, ...system.peers.addresses);
