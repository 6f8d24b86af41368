import type { AgentChannel } from '../cell/cell-channels.ts';
import { AcceptOptions, type AgentChannels, type ChannelAcceptor } from '../channels/agent-channels.ts';
import type { OpenChannelOptions } from '../channels/port-channel-options.ts';
import type { HandlingContext } from '../agent/context.ts';
import { bindMethods } from '../protocol/bind-methods.ts';
import { agentNotFound, type OrreryError, refused } from '../protocol/errors.ts';
import { parseOptions, requireFunction, requireText } from '../protocol/parse-options.ts';
import type { ThreadNode } from '../thread/thread-node.ts';

/**
 * Channels between agents of the system whose one end is in the embedder's thread: that of `system/host` itself, or of an
 * agent that runs inline. Agents elsewhere open theirs by `channelsOf(ctx)`.
 */
export interface SystemChannels {
  /**
   * Opens a channel in the name of `localAgentId`, such as `system/host`, as `channelsOf(ctx).openChannel` does.
   *
   * Rejects as that does, with AGENT_NOT_FOUND when there is no such local agent, and with REFUSED when it lives in another
   * thread.
   */
  openChannel(
    localAgentId: string,
    remoteAgentId: string,
    options?: OpenChannelOptions,
  ): Promise<AgentChannel>;
  /** The channel, until it is closed. Where both its ends are in this thread, the one that was opened. */
  getChannel(channelId: string): AgentChannel | undefined;
  /** All channels of this thread that are not closed. */
  listChannels(): AgentChannel[];
  /** Closes all channels of this thread. */
  closeAll(): Promise<void>;
  /**
   * Accepts channels that agents open to `system/host`, until the returned function is called; without it they are refused.
   * The last handler counts. What it throws declines.
   */
  onChannel(handler: ChannelAcceptor<HandlingContext>): Promise<() => void>;
}

export interface SystemChannelsDeps {
  readonly node: ThreadNode;
  readonly hostId: string;
  /** Resolves when the embedder has a mailbox. */
  readonly openMailbox: () => Promise<unknown>;
  /** Why nothing is possible any more. */
  readonly end: () => OrreryError | undefined;
}

export class HostChannels implements SystemChannels {
  readonly #deps: SystemChannelsDeps;

  static {
    bindMethods(HostChannels.prototype);
  }

  constructor(deps: SystemChannelsDeps) {
    this.#deps = deps;
  }

  async openChannel(
    localAgentId: string,
    remoteAgentId: string,
    options: OpenChannelOptions = {},
  ): Promise<AgentChannel> {
    requireText('localAgentId', localAgentId);
    const channels = await this.#of(localAgentId);
    return channels.openChannel(remoteAgentId, options);
  }

  getChannel(channelId: string): AgentChannel | undefined {
    const ends = this.listChannels().filter(({ id }) => id === channelId);
    return ends.find(({ isAccepted }) => !isAccepted) ?? ends[0];
  }

  listChannels(): AgentChannel[] {
    return [...this.#deps.node.channels].flatMap((channels) => channels.listChannels());
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.listChannels().map((channel) => channel.close()));
  }

  async onChannel(handler: ChannelAcceptor<HandlingContext>): Promise<() => void> {
    requireFunction('handler', handler);
    const channels = await this.#of(this.#deps.hostId);
    const acceptance = { accept: handler, options: parseOptions(AcceptOptions, {}, 'onChannel') };
    channels.acceptance = acceptance;
    return () => {
      if (channels.acceptance === acceptance) channels.acceptance = undefined;
    };
  }

  async #of(agentId: string): Promise<AgentChannels<HandlingContext>> {
    const { node, hostId, openMailbox, end } = this.#deps;
    const over = end();
    if (over !== undefined) throw over;
    if (agentId === hostId) await openMailbox();
    const row = node.table.get(agentId);
    if (row === undefined) throw agentNotFound(agentId);
    const cell = row.place === node.id ? node.cellOf(row.slot) : undefined;
    if (cell?.status === 'running') return node.channels.of(cell);
    throw refused(
      cell === undefined
        ? `${agentId} lives in ${row.place}, and opens its channels there: channelsOf(ctx)`
        : `${agentId} is ${cell.status}, and has no channels`,
      { agentId, place: row.place },
    );
  }
}
