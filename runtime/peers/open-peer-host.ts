import type { SendingThread } from '../cell/mail-sender.ts';
import type { AgentEndpoint } from '../protocol/agent-card.ts';
import { importExtension, importTransport, type MakeTransport, type PeerBoot } from './peer-boot.ts';
import { type CellOf, PeerHost, type PeerReports } from './peer-host.ts';
import { PEERS_ID } from './peer-message.ts';

/** What a place that speaks with other nodes has around it. */
export interface PeerSurroundings {
  readonly thread: SendingThread;
  readonly cellOf: CellOf;
  readonly reports: PeerReports;
  /** Makes its transports. @default they are imported */
  readonly makeTransport?: MakeTransport | undefined;
}

/** Makes the transports, listens, and dials. Rejects with INVALID_OPTIONS; then nothing of it is left. */
export async function openPeerHost(
  {
    node,
    keys,
    trust,
    revoked,
    transports: specs,
    addresses,
    dial,
    topics,
    channel,
    extension: spec,
  }: PeerBoot,
  { thread, cellOf, reports, makeTransport = importTransport }: PeerSurroundings,
): Promise<{ readonly host: PeerHost; readonly endpoints: readonly AgentEndpoint[] }> {
  const { clock, newSecret } = thread.seams;
  const extension =
    spec &&
    (await importExtension(spec, (reason) =>
      thread.log.note({ type: 'warning', timestamp: clock.now(), agentId: PEERS_ID, reason }),
    ));
  const transports = await Promise.all(specs.map(makeTransport));
  const host = new PeerHost({
    thread,
    cellOf,
    reports,
    self: { node, keys, trust, revoked, epoch: Math.floor(clock.now()), salt: newSecret() },
    network: { transports, addresses, dial, topics, channel },
    extension,
  });
  try {
    return { host, endpoints: await host.open() };
  } catch (error) {
    await host.close();
    throw error;
  }
}
