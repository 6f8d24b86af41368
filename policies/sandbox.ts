import { type JudgePolicy, type Party, type Verdict, sandboxReach } from '../runtime/protocol/policy.ts';
import { CLOSED_SANDBOXES, type SandboxRoutingConfig } from '../runtime/protocol/routing-config.ts';

/**
 * Keeps a sandboxed agent's envelopes in its sandbox, on the allow lists, or with the system: SANDBOX_VIOLATION.
 *
 * An ask whose answer could not come back is refused at once. Nothing is exempt, not a granted reply, not a broadcast.
 */
export function sandbox(config: SandboxRoutingConfig = CLOSED_SANDBOXES): JudgePolicy {
  const mayReach = sandboxReach(config);
  const policy: JudgePolicy = {
    name: 'sandbox',
    judge: ({ sender, recipient, expectsReply }) => {
      if (!mayReach(sender, recipient)) return violation(sender, recipient, 'may not write to');
      if (expectsReply && !mayReach(recipient, sender))
        return violation(recipient, sender, 'could not answer');
      return undefined;
    },
    withConfig: (changed) => (changed.sandbox === undefined ? policy : sandbox(changed.sandbox)),
  };
  return policy;
}

const violation = (from: Party, to: Party, what: string): Verdict => ({
  code: 'SANDBOX_VIOLATION',
  reason: `${from.id} in sandbox "${from.sandboxId}" ${what} ${to.id} in ${placeOf(to)}`,
});

const placeOf = ({ sandboxId }: Party): string =>
  sandboxId === undefined ? 'no sandbox' : `sandbox "${sandboxId}"`;
