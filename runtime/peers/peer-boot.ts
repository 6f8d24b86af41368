import type { AgentEndpoint } from '../protocol/agent-card.ts';
import type { PeerExtension, PeerExtensionOption } from '../protocol/peer-extension.ts';
import type { SigningKeyPair } from '../protocol/signing.ts';
import type { Transport, TransportSpec } from '../protocol/transport.ts';
import type { ChannelOptions } from '../channels/channel-options.ts';
import type { TrustBook } from './trust-book.ts';

/** What the place that speaks with other nodes is told. */
export interface PeerBoot extends TrustBook {
  readonly node: string;
  readonly keys: SigningKeyPair;
  readonly transports: readonly TransportSpec[];
  readonly addresses: readonly AgentEndpoint[];
  readonly dial: readonly AgentEndpoint[];
  readonly topics: readonly string[];
  readonly channel: ChannelOptions;
  /** What is added to what nodes do with each other. */
  readonly extension?: TransportSpec | undefined;
}

/** Makes the transport that a spec says. */
export type MakeTransport = (spec: TransportSpec) => Promise<Transport>;

/** Makes it in this thread, of the module that the spec names. */
export async function importTransport({ module, make, options }: TransportSpec): Promise<Transport> {
  const exported = (await import(module)) as Record<string, (options: unknown) => Transport>;
  return (exported[make] as (options: unknown) => Transport)(options);
}

/** Begins an extension in this thread; `warn` is told what the owner of the node should know. */
export async function importExtension(
  { module, make, options }: TransportSpec,
  warn: (reason: string) => void,
): Promise<PeerExtension> {
  const exported = (await import(module)) as Record<string, (options: unknown) => PeerExtensionOption>;
  return (exported[make] as (options: unknown) => PeerExtensionOption)(options).open(warn);
}
