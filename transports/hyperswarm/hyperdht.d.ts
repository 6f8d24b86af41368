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

  export interface Server extends EventEmitter {
    listen(keyPair: KeyPair): Promise<unknown>;
    close(): Promise<void>;
  }

  export interface DhtOptions {
    readonly keyPair?: KeyPair;
    readonly bootstrap?: readonly (string | { readonly host: string; readonly port: number })[];
    readonly host?: string;
    readonly port?: number;
    readonly firewalled?: boolean;
    readonly ephemeral?: boolean;
  }

  export default class DHT {
    constructor(options?: DhtOptions);
    static keyPair(seed?: Uint8Array): KeyPair;
    createServer(onConnection: (stream: SecretStream) => void): Server;
    connect(publicKey: Uint8Array): SecretStream;
    destroy(): Promise<void>;
  }
}
