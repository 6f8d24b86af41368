import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import type { RawAskSettings } from '../contenders/raw-ask.ts';
import { receiverTable, type Verdict } from '../receiver.ts';
import { pairEnd } from './pair-end.ts';

/** The leanest answer: which request, and what came of it. */
export interface RawReply {
  readonly id: string;
  readonly payload: Verdict;
}

const { port, settings } = pairEnd<RawAskSettings>();
const deliver = receiverTable(settings.layout);

port.on('message', (envelope: A2AEnvelope) => {
  port.postMessage({ id: envelope.id, payload: deliver(envelope) } satisfies RawReply);
});
