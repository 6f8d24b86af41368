import { chargedName, type Principal } from '../../runtime/protocol/principal.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { TaskOwner } from '../../runtime/protocol/task-service.ts';
import type { CallOptions } from '../../runtime/protocol/tool-service.ts';

/** Whether what a caller says is untainted. */
export type Trusts = (principal: Principal) => boolean;

/**
 * Trusts users and services: the deployment has given them a key or a token. Does not trust agents, which may pass on what
 * others have told them, nor anonymous callers.
 */
export const trustsByDefault: Trusts = ({ kind }) => kind === 'user' || kind === 'service';

/**
 * - `trusts`    whether what a caller sends is untainted. @default as `trustsByDefault` has it
 * - `strangers` anonymous callers are different people, who must not see each other's tasks. @default false: they are one
 */
export interface CallerRightsOptions {
  readonly trusts?: Trusts | undefined;
  readonly strangers?: boolean;
}

/** How far a gateway believes its callers, and whether they may list tasks, in every protocol. */
export class CallerRights {
  readonly #trusts: Trusts;
  readonly #strangers: boolean;

  constructor({ trusts = trustsByDefault, strangers = false }: CallerRightsOptions = {}) {
    this.#trusts = trusts;
    this.#strangers = strangers;
  }

  /** The taint of what a caller sends over a protocol; undefined for a caller that is trusted. */
  taintOf(principal: Principal, protocol: 'a2a' | 'lango' | 'mcp'): Taint | undefined {
    return this.#trusts(principal) ? undefined : [`${protocol}:${principal.id}`];
  }

  /** Whether a caller may list all tasks of its owner. Anonymous callers have one owner in common. */
  mayListAll({ kind }: Principal): boolean {
    return !this.#strangers || kind !== 'anonymous';
  }
}

/** The terms of work for a caller that its credentials decide, in every protocol. */
export const termsOfPrincipal = (principal: Principal) => ({
  tier: principal.tier,
  chargedAs: chargedName(principal),
  roles: principal.roles,
});

/** Who calls a tool, in every protocol. */
export const callingAs = (principal: Principal): NonNullable<CallOptions['as']> => ({
  id: principal.id,
  ...termsOfPrincipal(principal),
  ...(principal.tenant === undefined ? {} : { tenant: principal.tenant }),
});

/** The owner of a caller's tasks, in every protocol. */
export const taskOwnerOf = ({ id, tenant }: Principal): TaskOwner => ({
  principalId: id,
  ...(tenant === undefined ? {} : { tenant }),
});
