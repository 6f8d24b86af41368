import type { KeyObject } from 'node:crypto';
import type { Seams } from '../../runtime/protocol/seams.ts';
import type { CausalClock } from './causal-clock.ts';
import { signBytes } from './member-keys.ts';
import { type SyncKind, type SyncMessage, signedBytes } from './sync-message.ts';

export interface SyncFramesDeps {
  readonly seams: Pick<Seams, 'clock' | 'newId'>;
  readonly channelId: string;
  readonly agentId: string;
  readonly privateKey: KeyObject;
  readonly counted: CausalClock;
  readonly clientId: () => number;
}

type Content = Partial<Pick<SyncMessage, 'payload' | 'sessions' | 'stateVector' | 'inReplyTo' | 'digest'>>;

/** Makes and signs a member's messages; each tells what had been applied when it was made. */
export class SyncFrames {
  readonly #deps: SyncFramesDeps;

  constructor(deps: SyncFramesDeps) {
    this.#deps = deps;
  }

  make(kind: SyncKind, { payload = new Uint8Array(), ...content }: Content = {}): SyncMessage {
    const { seams, channelId, agentId, privateKey, counted, clientId } = this.#deps;
    const message = {
      channelId,
      kind,
      sourceAgentId: agentId,
      session: counted.session,
      ...(counted.since === undefined ? {} : { since: counted.since }),
      clientId: clientId(),
      vectorClock: counted.toRecord(),
      operationId: seams.newId(),
      timestamp: seams.clock.now(),
      payload,
      ...content,
    };
    return { ...message, signature: signBytes(signedBytes(message), privateKey) };
  }
}
