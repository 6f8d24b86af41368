import type { SystemEvent } from '../protocol/system-event.ts';

/** Watches that no proposal is accepted by two agents: each would believe that the task is its own. */
export class ProposalCheck {
  readonly violations: string[] = [];
  readonly #acceptedBy = new Map<string, string>();

  see({ type, success, proposalId, targetAgentId }: SystemEvent): void {
    if (type !== 'negotiation' || success !== true || proposalId === undefined) return;
    const agentId = targetAgentId ?? '';
    const other = this.#acceptedBy.get(proposalId);
    this.#acceptedBy.set(proposalId, agentId);
    if (other !== undefined && other !== agentId)
      this.violations.push(`The proposal ${proposalId} was accepted by ${other} and by ${agentId}`);
  }
}
