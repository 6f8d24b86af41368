/** Another machine, which asks the first one: `oslo.ts KEY_OF_ROME ADDRESS_OF_ROME`. Without them it prints its own key. */
import { startSystem } from 'orrery';
import { webSocket } from 'orrery/websocket';
import { shout } from './shout.ts';

const [key, address] = process.argv.slice(2);
await using system = await startSystem({
  peers: {
    transports: [webSocket()],
    identity: { node: 'oslo', key: 'oslo.pem' },
    trust: key === undefined ? [] : [{ key }],
    discover: { dial: address === undefined ? [] : [address] },
  },
});
console.log(key === undefined ? system.peers.publicKey : await system.ask(shout, 'hello'));
