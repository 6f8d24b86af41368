import type { ErrorCode } from '../../runtime/protocol/error-codes.ts';
import type { NotingClient } from '../../runtime/protocol/told-failure.ts';
import type { FirewallEvent } from './firewall-guard.ts';

const CODES: Readonly<Record<FirewallEvent['kind'], ErrorCode>> = {
  denied: 'NOT_PERMITTED',
  withheld: 'REFUSED',
  unauthenticated: 'UNAUTHENTICATED',
};

/** Notes what an edge has kept out or in as security events of the system. */
export const noteFirewall =
  (client: NotingClient) =>
  ({ kind, peer, toolName, reason }: FirewallEvent): void =>
    client.note({
      type: 'error',
      agentId: client.agentId,
      errorCode: CODES[kind],
      reason,
      success: false,
      security: true,
      ...(peer !== undefined && { sender: peer }),
      ...(toolName !== undefined && { toolName }),
    });
