import { type Endpoint, expose } from 'comlink';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import type { ComlinkSettings } from '../contenders/comlink.ts';
import { receiverTable, type Verdict } from '../receiver.ts';
import { pairEnd } from './pair-end.ts';

const { port, settings } = pairEnd<ComlinkSettings>();
const deliver = receiverTable(settings.layout);

const receiver = {
  /** A notification is answered with nothing, as small as comlink can. */
  handle(envelope: A2AEnvelope): Verdict | undefined {
    const verdict = deliver(envelope);
    return envelope.type === 'request' ? verdict : undefined;
  },
};
export type RemoteReceiver = typeof receiver;

expose(receiver, port as unknown as Endpoint);
