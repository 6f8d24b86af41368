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

function judgePath({ path, recipient, capability }: JudgeRequest, maxHops: number): Verdict | undefined {
  if (capability !== undefined && capability !== '') {
    for (const hop of path) {
      if (hop.agent === recipient.id && hop.capability === capability) {
        return { code: 'PATH_LOOP', reason: pathLoop(recipient.id, capability).message };
      }
    }
  }
  return path.length < maxHops ? undefined : { code: 'HOP_LIMIT', reason: hopLimit(maxHops).message };
}
