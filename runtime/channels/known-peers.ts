import type { AdmitChannel, HelloRefusal } from './credentials.ts';
import type { AgentCard } from '../protocol/agent-card.ts';
import { isOrreryError, reasonOf } from '../protocol/errors.ts';
import type { AgentRegistry } from '../routing/agent-registry.ts';
import type { RemoteGrant } from '../routing/remote-grant.ts';

/**
 * - `registry` where the cards of those who are let in are merged.
 * - `grantOf`  how whoever holds this key is judged as the agent of this card; undefined keeps them out.
 */
export interface KnownPeersOptions {
  readonly registry: Pick<AgentRegistry, 'mergeRemote'>;
  readonly grantOf: (publicKey: string, card: AgentCard) => RemoteGrant | undefined;
}

/**
 * Lets in who proves a known key, for `ChannelManager.admit`: its card joins the registry as a remote one, judged by the
 * tier it was granted and not by the one it claims. A card for the id of a local agent, or of another node's, is
 * never taken.
 */
export function knownPeers({ registry, grantOf }: KnownPeersOptions): AdmitChannel {
  return ({ proof, remoteAgentId }): HelloRefusal | undefined => {
    if (proof === undefined) return { code: 'REFUSED', reason: `"${remoteAgentId}" has proved nothing` };
    try {
      const grant = grantOf(proof.publicKey, proof.card);
      if (grant === undefined)
        return { code: 'REFUSED', reason: `"${remoteAgentId}" is not known under its key` };
      if (registry.mergeRemote(proof.card, grant)) return undefined;
      return {
        code: 'REFUSED',
        reason: `"${remoteAgentId}" is local here, or another node's; a remote card does not replace it`,
      };
    } catch (error) {
      return { code: isOrreryError(error) ? error.code : 'REFUSED', reason: reasonOf(error) };
    }
  };
}
