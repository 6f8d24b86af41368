import { z } from 'zod';
import { Description } from '../agent/agent-description.ts';
import { ERROR_CODES } from '../protocol/errors.ts';
import { Snapshot } from '../protocol/snapshot.ts';

/** Texts of a process end in logs, of which each keeps thousands. */
const MAX_TEXT = 4_096;
const MAX_DETAILS = 16_384;

const Text = z.string().transform((text) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text));
const Count = z.int().nonnegative();
const Details = z.record(z.string(), z.unknown()).transform((details) => {
  const isSmall = JSON.stringify(details).length <= MAX_DETAILS;
  return isSmall ? details : {};
});

/** An error with a code of ours. */
const CodedError = z.strictObject({
  code: z.enum(ERROR_CODES),
  message: Text,
  details: Details.optional(),
});

/** What an agent's code threw: `coded` if it has a code of ours. */
export const ThrownData = z.strictObject({
  name: Text,
  message: Text,
  stack: Text.optional(),
  coded: CodedError.optional(),
});
export type ThrownData = z.infer<typeof ThrownData>;

/** What it leaves to the next process; whose it is, when it was taken, and where it came from, the host knows. */
export const LeftState = Snapshot.omit({ agentId: true, atMs: true, taint: true });
export type LeftState = z.output<typeof LeftState>;

/** Whom to send to: an agent, a capability, or a capability of an agent. */
const FrameTarget = z.strictObject({
  agent: z.string().optional(),
  capability: z
    .strictObject({ id: z.string(), carries: z.enum(['json', 'structured']).optional() })
    .optional(),
});
export type FrameTarget = z.infer<typeof FrameTarget>;

const MAX_NAME = 256;
const MAX_GUARDS = 32;
const Name = z.string().transform((name) => name.slice(0, MAX_NAME));

/** A `WatchedStep` of XState logic. */
const Step = z.strictObject({
  machine: Name,
  actorId: Name,
  event: Name,
  from: Name,
  to: Name,
  failedGuards: z.array(Name).max(MAX_GUARDS).exactOptional(),
});

/** Options of a send: whoever performs it looks at them as at those of any other agent. */
const Options = z.record(z.string(), z.unknown());

/** What of it the code wants to hear beside the answer: how far it is and whence what is told; and its id when it is on its way. */
const Listened = { isFollowed: z.boolean(), isAnnounced: z.boolean() };
const Request = { n: Count, a: Count, target: FrameTarget, input: z.unknown().optional(), options: Options };

/**
 * What the process of an agent tells the host, which checks all of it: nothing in it is believed but what the agent may
 * decide for itself.
 *
 * `n` and `a` as in `HostFrame`: what stands beside an `n` is done in the name of the agent while it handles that envelope.
 *
 * - `report` of what is told to the asker in between.
 * - `begun`  the handler of `n` is about to run: written before it does.
 * - `ask`, `read`, `send` are answered under their `a`; `cancel` ends the wait, `want` asks for so many more chunks.
 * - `call`   the process stands still until it is answered. `input` is what is told, spent, kept or declared.
 * - `left`   the answer to `leave`: its state, if it keeps one, or why that cannot be handed on.
 * - `step`   of its machine, told while somebody watches.
 * - `lost`   the agent's logic failed outside of any envelope. `stray`: nobody caught an error.
 */
export const ChildFrame = z.discriminatedUnion('t', [
  z.strictObject({ t: z.literal('loaded'), description: Description }),
  z.strictObject({ t: z.literal('unloadable'), reason: Text, stack: Text.optional() }),
  z.strictObject({ t: z.literal('ready') }),
  z.strictObject({ t: z.literal('unready'), error: ThrownData }),
  z.strictObject({ t: z.literal('left'), state: LeftState.optional(), error: ThrownData.optional() }),
  z.strictObject({ t: z.literal('begun'), n: Count }),
  z.strictObject({ t: z.literal('done'), n: Count, output: z.unknown().optional() }),
  z.strictObject({ t: z.literal('failed'), n: Count, error: ThrownData }),
  z.strictObject({ t: z.literal('chunk'), n: Count, value: z.unknown().optional() }),
  z.strictObject({ t: z.literal('progress'), n: Count, fraction: z.number(), note: Text.optional() }),
  z.strictObject({ t: z.literal('report'), n: Count, what: z.unknown() }),
  z.strictObject({ t: z.literal('ask'), ...Request, ...Listened }),
  z.strictObject({ t: z.literal('read'), ...Request, ...Listened }),
  z.strictObject({ t: z.literal('send'), ...Request }),
  z.strictObject({ t: z.literal('cancel'), a: Count }),
  z.strictObject({ t: z.literal('want'), a: Count, count: Count }),
  z.strictObject({
    t: z.literal('call'),
    n: Count,
    what: z.enum([
      'tell',
      'spend',
      'refund',
      'budget',
      'resumeFrom',
      'checkpoint',
      'taint',
      'markOutside',
      'declareClean',
    ]),
    target: FrameTarget.optional(),
    input: z.unknown().optional(),
    options: Options.optional(),
  }),
  z.strictObject({ t: z.literal('step'), step: Step }),
  z.strictObject({ t: z.literal('exited') }),
  z.strictObject({ t: z.literal('lost'), error: ThrownData }),
  z.strictObject({ t: z.literal('stray'), error: ThrownData }),
  z.strictObject({ t: z.literal('ended'), error: ThrownData.optional() }),
  z.strictObject({ t: z.literal('pong') }),
]);
export type ChildFrame = z.output<typeof ChildFrame>;
export type GivenChildFrame = z.input<typeof ChildFrame>;
