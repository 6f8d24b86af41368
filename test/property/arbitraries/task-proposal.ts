import fc from 'fast-check';
import { type Decision, decline, takeOn } from '../../../actors/negotiator/decision.ts';
import type { NewTaskProposal } from '../../../actors/negotiator/proposal.ts';
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

/** Any proposal that a negotiator takes. */
export const arbNewProposal = (
  fixed: { [Field in keyof NewTaskProposal]?: fc.Arbitrary<NewTaskProposal[Field]> } = {},
): fc.Arbitrary<NewTaskProposal> =>
  fc.record({
    taskDescription: arbText(),
    requiredCapabilities: fc.subarray(CAPABILITY_IDS),
    estimatedComplexity: fc.constantFrom('simple', 'medium', 'complex'),
    deadlineMs: fc.integer({ min: 1, max: 600_000 }),
    ...fixed,
  }) as fc.Arbitrary<NewTaskProposal>;

/** Anything that an agent may say to a proposal; `names` are the agents that it may name. */
export const arbDecision = (names: readonly string[] = []): fc.Arbitrary<Decision> =>
  fc.oneof(
    fc.integer({ min: 1, max: 600_000 }).map((estimatedCompletionMs) => takeOn({ estimatedCompletionMs })),
    fc
      .record(
        {
          reason: fc.constantFrom('BUSY', 'NOT_MINE', 'TOO_LARGE'),
          alternative: fc.constantFrom('nobody', ...names),
        },
        { requiredKeys: ['reason'] },
      )
      .map((options) => decline(options)),
  );
