import fc from 'fast-check';
import type { TaskProposalPayload } from '../../../runtime/protocol/task-proposal.ts';
import { CAPABILITY_IDS } from './capability-descriptor.ts';
import { arbText } from './json.ts';

/** Any valid payload of a `task-proposal`; without a justification unless `justification` gives one. */
export const arbTaskProposal = (
  justification: fc.Arbitrary<string | undefined> = fc.constant(undefined),
): fc.Arbitrary<TaskProposalPayload> =>
  fc
    .tuple(
      fc.record(
        {
          taskDescription: arbText(),
          requiredCapabilities: fc.subarray(CAPABILITY_IDS),
          estimatedComplexity: fc.constantFrom('simple', 'medium', 'complex'),
          deadlineMs: fc.integer({ min: 1, max: 600_000 }),
          estimatedCompletionMs: fc.integer({ min: 1, max: 600_000 }),
          rejectionReason: arbText(),
          alternativeSuggestion: arbText(),
        },
        {
          requiredKeys: ['taskDescription', 'requiredCapabilities', 'estimatedComplexity', 'deadlineMs'],
          noNullPrototype: true,
        },
      ),
      justification,
    )
    .map(([payload, escalationJustification]) =>
      escalationJustification === undefined ? payload : { ...payload, escalationJustification },
    );
