import { OrreryError, reasonOf } from '../protocol/errors.ts';
import type { ChannelIdentity } from './channel-event.ts';
import {
  CHANNEL_PROTOCOL_VERSION,
  type ChannelFrame,
  frameText,
  type Hello,
  type Welcome,
} from './channel-frame.ts';
import type { Challenges } from './channel-proof.ts';
import type { Credentials, HelloRefusal } from './credentials.ts';
import type { ChannelConnection } from './channel-connection.ts';

/** Called at the end of a handshake. A fault of the connection alone ends only the connection. */
export interface HelloExchangeUser {
  onWelcome(welcome: Welcome, publicKey: string | undefined): void;
  onRefused(error: OrreryError): void;
}

export interface HelloExchangeDeps extends HelloExchangeUser {
  readonly connection: ChannelConnection;
  readonly credentials: Credentials;
  readonly identity: ChannelIdentity;
  /** The key under which the other end answered before; it has to be the same again. */
  readonly knownKey: string | undefined;
}

/** The handshake of the end that dials, on one connection. */
export class HelloExchange {
  readonly hello: Hello;
  readonly #deps: HelloExchangeDeps;
  #challenge = '';

  constructor(hello: Omit<Hello, 'type' | 'nonce'>, deps: HelloExchangeDeps) {
    const nonce = deps.credentials.challenge();
    this.hello = { type: 'hello', ...hello, ...(nonce === '' ? {} : { nonce }) };
    this.#deps = deps;
  }

  /** Handles a frame. */
  hear(frame: ChannelFrame): void {
    const { connection, identity } = this.#deps;
    if (frame.type === 'refuse') this.#refuse(frame);
    else if (frame.type === 'challenge' && this.#challenge === '') this.#prove(frame.nonce);
    else if (frame.type !== 'welcome') connection.fault('unexpected', `a ${frame.type} instead of a welcome`);
    else if (
      frame.version !== CHANNEL_PROTOCOL_VERSION ||
      frame.from !== identity.remoteAgentId ||
      frame.to !== identity.localAgentId
    )
      this.#mistrust(`a welcome of "${frame.from}", version ${frame.version}`);
    else this.#judge(frame);
  }

  get #challenges(): Challenges {
    return { ofReader: this.hello.nonce ?? '', ofGiver: this.#challenge };
  }

  #refuse({ code, reason }: HelloRefusal): void {
    const { identity, onRefused } = this.#deps;
    onRefused(new OrreryError(code, `The channel ${identity.channelId} was refused: ${reason}`));
  }

  /** Drops the connection: another agent may answer at the same address next time. */
  #mistrust(reason: string): void {
    this.#deps.connection.fault('forged', reason);
    this.#deps.connection.lose('it was not the other end that answered');
  }

  #prove(challenge: string): void {
    const { connection, credentials } = this.#deps;
    this.#challenge = challenge;
    try {
      const proof = credentials.prove(this.hello, { ofReader: challenge, ofGiver: this.hello.nonce ?? '' });
      void connection.send(frameText({ type: 'proof', channel: this.hello.channel, proof }));
    } catch (error) {
      this.#refuse({ code: 'REFUSED', reason: reasonOf(error) });
    }
  }

  /** Checks a welcome: its proof, and `admit`. */
  #judge(welcome: Welcome): void {
    const { connection, credentials, identity, knownKey, onWelcome } = this.#deps;
    const proof = credentials.check(welcome, this.#challenges, welcome.proof);
    if (typeof proof === 'string') return this.#mistrust(proof);
    const { resumes } = this.hello;
    if (resumes && proof?.publicKey !== knownKey) return this.#mistrust('a welcome under another key');
    if (proof === undefined) return onWelcome(welcome, undefined);
    const decide = (refusal: HelloRefusal | undefined): void => {
      if (connection.isOver) return;
      if (refusal === undefined) onWelcome(welcome, proof.publicKey);
      else this.#refuse(refusal);
    };
    const kept = credentials.admit({ ...identity, isOurs: true, resumes, proof });
    if (kept instanceof Promise) void kept.then(decide);
    else decide(kept);
  }
}
