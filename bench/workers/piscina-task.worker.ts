import { Piscina } from 'piscina';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { receiverTable, type Verdict } from '../receiver.ts';
import type { Layout } from '../team.ts';

const deliver = receiverTable((Piscina.workerData as { layout: Layout }).layout);

/** One task of the pool: an envelope. */
export function handle(envelope: A2AEnvelope): Verdict | undefined {
  const verdict = deliver(envelope);
  return envelope.type === 'request' ? verdict : undefined;
}
