import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { receiverTable } from '../receiver.ts';
import type { RawReply } from '../workers/raw-ask-receiver.worker.ts';

// The other end of a plain `fork`: answers every envelope in a message of its own.
const deliver = receiverTable(Number(process.argv[2]));

process.on('message', (envelope: A2AEnvelope) => {
  process.send?.({ id: envelope.id, payload: deliver(envelope) } satisfies RawReply);
});
