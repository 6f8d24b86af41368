/**
 * What the person who runs an agent should know; nothing has failed.
 *
 * - `key.unprefixed`    a key of the identity file has no prefix, which is deprecated.
 * - `directory.exposed` others may see which files the folder of the keys has.
 * - `schema.skipped`    a file of the folder of schemas is no schema that can be used.
 * - `schema.suspended`  checking by a registered schema took too long: it is not used until it is registered again.
 */
export interface AgentMeshEvent {
  readonly kind: 'key.unprefixed' | 'directory.exposed' | 'schema.skipped' | 'schema.suspended';
  readonly reason: string;
  readonly details: Readonly<Record<string, string>>;
}

export type OnAgentMeshEvent = (event: AgentMeshEvent) => void;

/** Where nobody listens, an event is a warning of the process. */
export const warnOfEvent: OnAgentMeshEvent = ({ kind, reason }) =>
  process.emitWarning(reason, {
    type: kind === 'key.unprefixed' ? 'DeprecationWarning' : 'OrreryWarning',
  });
