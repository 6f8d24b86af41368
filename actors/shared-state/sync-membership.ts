import type { KeyObject } from 'node:crypto';
import type { AgentTier } from '../../runtime/protocol/agent-card.ts';
import { invalidOptions, OrreryError, refused } from '../../runtime/protocol/errors.ts';
import { type Party, type Verdict, type SandboxReach, sandboxReach } from '../../runtime/protocol/policy.ts';
import { CLOSED_SANDBOXES } from '../../runtime/protocol/routing-config.ts';
import { InMemoryMemberKeys, type MemberKeys, memberKeyFrom } from './member-keys.ts';

/** A candidate: tier and sandbox from its registered card; `publicKey` is a raw Ed25519 key in base64url. */
export interface SyncMember {
  readonly agentId: string;
  readonly tier: AgentTier;
  readonly sandboxId?: string | undefined;
  readonly publicKey: string;
}

/** Judges a candidate. Undefined lets it in. */
export type JudgeJoin = (candidate: Party, members: readonly Party[]) => Verdict | undefined;

/**
 * - `judgeJoin` the rule beside that of the sandboxes, which always holds. @default everybody may join
 * - `sandbox`   who may write to whom. @default nobody out of a sandbox
 * - `keys`      @default in memory
 */
export interface SyncMembershipDeps {
  readonly judgeJoin?: JudgeJoin;
  readonly sandbox?: SandboxReach;
  readonly keys?: MemberKeys;
}

/**
 * Who belongs to a sync channel. A member is judged once, when it joins; its messages are not judged again (C-32).
 *
 * It is kept beside the shared document, never in it: members must not be able to write who is a member.
 */
export class SyncMembership {
  readonly #judgeJoin: JudgeJoin;
  readonly #sandbox: SandboxReach;
  readonly #keys: MemberKeys;
  readonly #members = new Map<string, { readonly party: Party; readonly publicKey: string }>();
  readonly #leaveListeners = new Set<(agentId: string) => void>();

  constructor({
    judgeJoin = () => undefined,
    sandbox = sandboxReach(CLOSED_SANDBOXES),
    keys = new InMemoryMemberKeys(),
  }: SyncMembershipDeps = {}) {
    this.#judgeJoin = judgeJoin;
    this.#sandbox = sandbox;
    this.#keys = keys;
  }

  /**
   * Judges the candidate and lets it in. Joining again with the same key does nothing.
   *
   * Fails with SANDBOX_VIOLATION unless it and every member may write to each other, with the code of `judgeJoin`'s
   * verdict, with REFUSED when a member of this id has another key, with INVALID_OPTIONS on what is no key or no id.
   */
  join({ agentId, tier, sandboxId, publicKey }: SyncMember): void {
    const known = this.#members.get(agentId);
    if (known?.publicKey === publicKey) return;
    if (known !== undefined) throw refused(`${agentId} is a member under another key`, { agentId });
    // `__proto__` cannot be a key of an object, as vector clocks are.
    if (agentId === '__proto__') throw invalidOptions('member.agentId', agentId, 'another id');
    const key = memberKeyFrom(publicKey);
    const candidate: Party = { id: agentId, tier, sandboxId, isSystem: false };
    const members = [...this.#members.values()].map(({ party }) => party);
    const verdict = this.#judgeSandbox(candidate, members) ?? this.#judgeJoin(candidate, members);
    if (verdict !== undefined) throw new OrreryError(verdict.code, verdict.reason, { details: { agentId } });
    this.#keys.set(agentId, key);
    this.#members.set(agentId, { party: candidate, publicKey });
  }

  /** Takes the member out: nothing it sends counts any more. */
  leave(agentId: string): void {
    if (!this.#members.delete(agentId)) return;
    this.#keys.delete(agentId);
    for (const listener of this.#leaveListeners) listener(agentId);
  }

  has(agentId: string): boolean {
    return this.#members.has(agentId);
  }

  ids(): string[] {
    return [...this.#members.keys()];
  }

  /** The key of a member; undefined for everybody else. */
  keyOf(agentId: string): KeyObject | undefined {
    return this.#members.has(agentId) ? this.#keys.get(agentId) : undefined;
  }

  /** Calls `listener` with whoever is taken out; returns what ends that. */
  onLeave(listener: (agentId: string) => void): () => void {
    this.#leaveListeners.add(listener);
    return () => {
      this.#leaveListeners.delete(listener);
    };
  }

  #judgeSandbox(candidate: Party, members: readonly Party[]): Verdict | undefined {
    const apart = members.find(
      (member) => !this.#sandbox(candidate, member) || !this.#sandbox(member, candidate),
    );
    if (apart === undefined) return undefined;
    return {
      code: 'SANDBOX_VIOLATION',
      reason: `${candidate.id} and ${apart.id} may not write to each other across their sandboxes`,
    };
  }
}
