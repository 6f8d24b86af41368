import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { refused } from '../../runtime/protocol/errors.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import type { WatchedSystem } from './watch-state.ts';

/**
 * Sends a dead letter again, in the name of whoever had sent it: the policies judge it anew, and its taint stays. It is another
 * envelope, with an id of its own; who asked is not asking any more, so its deadline and its budget are gone.
 *
 * Resolves to the id. Rejects with REFUSED when there is no such letter, what it said is not kept, or it is refused again.
 */
export async function replay(
  system: Pick<WatchedSystem, 'deadLetters' | 'send'>,
  id: string,
  seams: Pick<Seams, 'clock' | 'newId'>,
): Promise<string> {
  const letters = await system.deadLetters();
  const letter = letters.findLast((one) => one.id === id);
  if (letter === undefined) throw refused(`There is no dead letter "${id}"`);
  const { envelope, recipient } = letter;
  if (envelope === undefined) throw refused(`Of the dead letter "${id}" is not kept what it said`);
  const again = seams.newId();
  const { delivered, error } = await system.send({
    ...anew(envelope),
    id: again,
    recipient,
    timestamp: seams.clock.now(),
  });
  if (!delivered) throw refused(`The dead letter "${id}" was refused again: ${error ?? 'nobody took it'}`);
  return again;
}

/** Without what held for the one who waited; it goes to the agent that it was lost at, however that was found. */
function anew({ metadata, session: _session, ...envelope }: A2AEnvelope): A2AEnvelope {
  if (metadata === undefined) return envelope;
  const { deadlineAtMs: _deadlineAtMs, budget: _budget, routingHint: _routingHint, ...kept } = metadata;
  return { ...envelope, metadata: kept };
}
