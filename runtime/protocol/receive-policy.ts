import type { A2AEnvelope } from './envelope.ts';
import { reasonOf } from './errors.ts';
import type { Verdict } from './policy.ts';

/** One envelope that has come from a peer, before anybody here gets it. `peer` is whom the connection has proved. */
export interface ReceiveRequest {
  readonly peer: string;
  readonly envelope: A2AEnvelope;
}

/**
 * What a rule has found at an envelope.
 *
 * - `warn`   it is handled all the same.
 * - `drop`   it is not handled, and its sender is not answered: it has come before.
 * - `refuse` it is not handled, and its sender is answered with code and reason.
 */
export type ReceiveFinding =
  | {
      readonly action: 'warn' | 'drop';
      readonly reason: string;
      readonly details?: Readonly<Record<string, unknown>>;
    }
  | ({ readonly action: 'refuse'; readonly details?: Readonly<Record<string, unknown>> } & Verdict);

/** One rule about what comes from a peer. `receive` returns undefined to let it pass. It may keep state of its own. */
export interface ReceivePolicy {
  readonly name: string;
  receive(request: ReceiveRequest): ReceiveFinding | undefined;
}

/**
 * What the rules make of one envelope.
 *
 * - `isAccepted` it is to be handled.
 * - `findings`   what they found, in their order, with the name of the rule. The last one says why it is not accepted.
 */
export interface Received {
  readonly isAccepted: boolean;
  readonly findings: readonly (ReceiveFinding & { readonly policy: string })[];
}

/** Asks the rules in order, up to the first that drops or refuses. A rule that throws refuses. */
export function receive(policies: readonly ReceivePolicy[], request: ReceiveRequest): Received {
  const findings: (ReceiveFinding & { readonly policy: string })[] = [];
  for (const policy of policies) {
    const finding = ask(policy, request);
    if (finding === undefined) continue;
    findings.push({ ...finding, policy: policy.name });
    if (finding.action !== 'warn') return { isAccepted: false, findings };
  }
  return { isAccepted: true, findings };
}

function ask(policy: ReceivePolicy, request: ReceiveRequest): ReceiveFinding | undefined {
  try {
    return policy.receive(request);
  } catch (error) {
    const reason = `The policy "${policy.name}" could not judge: ${reasonOf(error)}`;
    return { action: 'refuse', code: 'REFUSED', reason };
  }
}
