import { asksForWork } from '../runtime/protocol/envelope.ts';
import { hopLimit, pathLoop } from '../runtime/protocol/errors.ts';
import type { JudgePolicy, JudgeRequest, Verdict } from '../runtime/protocol/policy.ts';

/** How many requests, proposals and streams may stand one above the other. */
const DEFAULT_MAX_HOPS = 16;

/**
 * Refuses delegation that runs in circles: PATH_LOOP for work that the recipient already does further up the path,
 * HOP_LIMIT for a path that is too long.
 *
 * A call-back to an agent further up, for something else, is no loop.
 */
export const pathGuard = (maxHops: number = DEFAULT_MAX_HOPS): JudgePolicy => ({
  name: 'path-guard',
  judge: (request) =>
    request.path.length === 0 || !asksForWork(request.type) ? undefined : judgePath(request, maxHops),
});

function judgePath(
  { path, recipient, capability, proposes }: JudgeRequest,
  maxHops: number,
): Verdict | undefined {
  let envelopes = 0;
  let last: string | undefined;
  for (const hop of path) {
    // A proposal is on the path once for each capability that it requires.
    if (hop.envelopeId !== last) envelopes += 1;
    last = hop.envelopeId;
    if (hop.agent !== recipient.id || hop.capability === '') continue;
    if (hop.capability === capability || proposes.includes(hop.capability)) {
      return { code: 'PATH_LOOP', reason: pathLoop(recipient.id, hop.capability).message };
    }
  }
  return envelopes < maxHops ? undefined : { code: 'HOP_LIMIT', reason: hopLimit(maxHops).message };
}
