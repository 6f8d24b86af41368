/**
 * What makes an envelope part of a channel between two agents of one system.
 *
 * - `act`     `open` asks for the channel, `data` is what its user sent, `ready` says that somebody listens, `lost` that
 *             this end's actor is over, `close` that the channel is.
 * - `to`      of `data`: the life of the recipient that it is meant for; another one knows nothing of the channel.
 * - `run`     of `data`: since when the recipient has listened without a break, as it said.
 * - `granted` the channel was opened by the recipient, which gives leave to answer over it whatever the tiers say.
 */
export interface ChannelMark {
  readonly id: string;
  readonly act: 'open' | 'data' | 'ready' | 'lost' | 'close';
  readonly to?: string;
  readonly run?: number;
  readonly granted?: true;
}
