/** What is used of hyperdht, which has no types of its own. */
declare module 'hyperdht' {
  import type { EventEmitter } from 'node:events';

  export interface KeyPair {
    readonly publicKey: Uint8Array;
    readonly secretKey: Uint8Array;
  }

  /** An encrypted stream of bytes. */
  export interface SecretStream extends EventEmitter {
    readonly remotePublicKey: Uint8Array;
    write(bytes: Uint8Array): boolean;
    end(): void;
    destroy(error?: Error): void;
  }

  /** Where the DHT relays handshakes to an end. */
  export interface RelayAddress {
    readonly host: string;
    readonly port: number;
  }

  export interface Server extends EventEmitter {
    readonly relayAddresses: readonly RelayAddress[];
    listen(keyPair: KeyPair): Promise<unknown>;
    close(): Promise<void>;
  }

  /** What nodes of the DHT answer, one after the other. */
  export interface PeerQuery
    extends AsyncIterable<{
      readonly peers: readonly { readonly publicKey: Uint8Array }[];
    }> {
    destroy(): void;
  }

  export interface DhtOptions {
    readonly keyPair?: KeyPair;
    readonly bootstrap?: readonly (string | { readonly host: string; readonly port: number })[];
    readonly host?: string;
    readonly port?: number;
    readonly firewalled?: boolean;
    readonly ephemeral?: boolean;
  }

  export interface ConnectionOptions {
    /** Keys of relays, one of which is taken at random. */
    readonly relayThrough?: Uint8Array[];
  }

  export default class DHT extends EventEmitter {
    constructor(options?: DhtOptions);
    static keyPair(seed?: Uint8Array): KeyPair;
    createServer(onConnection: (stream: SecretStream) => void): Server;
    createServer(options: ConnectionOptions, onConnection: (stream: SecretStream) => void): Server;
    connect(publicKey: Uint8Array, options?: ConnectionOptions): SecretStream;
    announce(target: Uint8Array, keyPair: KeyPair, relayAddresses: readonly RelayAddress[]): PeerQuery;
    lookup(target: Uint8Array): PeerQuery;
    unannounce(target: Uint8Array, keyPair: KeyPair): Promise<void>;
    /** Resolves when it has found the DHT, or not found it. */
    fullyBootstrapped(): Promise<void>;
    destroy(): Promise<void>;
  }
}
