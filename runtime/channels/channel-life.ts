import { initialTransition, transition } from 'xstate';
import { OrreryError } from '../protocol/errors.ts';
import type { ChannelStatus } from '../protocol/channel-status.ts';
import { type ChannelLifeEvent, channelMachine } from './channel.machine.ts';

/** What a step has the channel do, in this order. */
export type ChannelEffect = 'dial' | 'dialAgain' | 'resume' | 'release';

/** Where a step leads. */
export interface ChannelStep {
  readonly status: ChannelStatus;
  readonly effects: readonly ChannelEffect[];
}

const effectsOf = (actions: readonly { readonly type: string }[]): ChannelEffect[] =>
  actions.map(({ type }) => type as ChannelEffect);

let first: ChannelStep | undefined;

/** How every channel begins. */
export function firstChannelStep(): ChannelStep {
  if (first !== undefined) return first;
  const [snapshot, actions] = initialTransition(channelMachine);
  first = { status: snapshot.value, effects: effectsOf(actions) };
  return first;
}

/** The step that `type` leads to; throws REFUSED for one that a channel in this status cannot take. */
export function nextChannelStep(status: ChannelStatus, type: ChannelLifeEvent['type']): ChannelStep {
  const snapshot = channelMachine.resolveState({ value: status });
  if (!snapshot.can({ type })) throw invalidTransition(status, type);
  const [next, actions] = transition(channelMachine, snapshot, { type });
  return { status: next.value, effects: effectsOf(actions) };
}

const invalidTransition = (status: ChannelStatus, event: string): OrreryError =>
  new OrreryError('REFUSED', `A channel that is ${status} cannot take ${event}`, {
    details: { status, event },
  });
