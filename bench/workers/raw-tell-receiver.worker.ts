import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import type { RawTellSettings } from '../contenders/raw-tell.ts';
import { receiverTable } from '../receiver.ts';
import { pairEnd } from './pair-end.ts';

const ACKNOWLEDGE_EVERY = 256;

const { port, settings } = pairEnd<RawTellSettings>();
const deliver = receiverTable(settings.layout);
let handled = 0;

function handle(envelope: A2AEnvelope): void {
  deliver(envelope);
  handled += 1;
  if (handled % ACKNOWLEDGE_EVERY === 0) port.postMessage(handled);
}

/** A string is a batch, null the end of a run, anything else one envelope. */
port.on('message', (message: string | A2AEnvelope | null) => {
  if (message === null) port.postMessage(handled);
  else if (typeof message === 'string') for (const envelope of JSON.parse(message)) handle(envelope);
  else handle(message);
});
