import type { Mail } from '../mailbox/mail.ts';
import type { ErrorCode } from '../protocol/errors.ts';
import { isSystemId } from '../protocol/policy.ts';
import type { RemoteQuery } from '../routing/remote-lookup.ts';
import { AgentId } from '../agent/agent-options.ts';

const NOBODY_HERE: ReadonlySet<ErrorCode | undefined> = new Set(['AGENT_NOT_FOUND', 'CAPABILITY_NOT_FOUND']);

/**
 * What other nodes are asked for `mail` that was refused here with `code`; undefined where they are not: somebody here is
 * meant, it answers somebody who has gone, or names none who could be an agent.
 */
export function queryFor({ recipient, extras }: Mail, code: ErrorCode | undefined): RemoteQuery | undefined {
  if (!NOBODY_HERE.has(code) || extras?.inReplyTo !== undefined || isSystemId(recipient)) return undefined;
  if (!AgentId.safeParse(recipient).success) return undefined;
  return { kind: extras?.routingHint === 'capability' ? 'capability' : 'agent', id: recipient };
}
