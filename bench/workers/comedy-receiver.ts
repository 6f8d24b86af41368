import type { ComedyActor } from 'comedy';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { receiverTable, type Verdict } from '../receiver.ts';
import type { Layout } from '../team.ts';

let deliver: ReturnType<typeof receiverTable>;
let handled = 0;

export function initialize(self: ComedyActor): void {
  deliver = receiverTable(self.getCustomParameters()['layout'] as Layout);
}

export function handle(envelope: A2AEnvelope): Verdict {
  handled += 1;
  return deliver(envelope);
}

export const handledSoFar = (): number => handled;
