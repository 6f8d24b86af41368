import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { makeFinding } from '../envelope.ts';
import { receiverTable } from '../receiver.ts';
import { BARE_LIBRARIES, type BareStream } from './bare-stream.ts';
import { type BareOrder, RECEIVERS } from './bare-order.ts';
import { networkOf } from './peer-order.ts';

// The other end of a bare stream: does what an envelope or an order says, and nothing is permitted or refused.

const deliver = receiverTable(RECEIVERS);
let handled = 0;

const network = networkOf(process.argv);
const { address, close } = await BARE_LIBRARIES[network.link].listen(network, (stream) => (text) => {
  const said = JSON.parse(text) as A2AEnvelope | BareOrder;
  if ('order' in said) void obey(said, stream);
  else {
    const payload = deliver(said);
    if (said.type === 'request') void stream.send(JSON.stringify({ id: said.id, payload }));
    else handled += 1;
  }
});
console.log(JSON.stringify({ address }));

async function obey({ order, count }: BareOrder, stream: BareStream): Promise<void> {
  if (order === 'count') await stream.send(JSON.stringify({ handled }));
  else for (let n = 0; n < count; n++) await stream.send(JSON.stringify({ value: makeFinding(n) }));
}

process.stdin.on('end', () => void close().finally(() => process.exit(0))).resume();
