import type { Behalf } from '../mailbox/behalf.ts';
import { type ChannelMark, fromEnvelope, Mail, NO_ASK, typeIndex } from '../mailbox/mail.ts';
import type { A2AEnvelope, A2AMessageType } from '../protocol/envelope.ts';
import { isSystemId } from '../protocol/policy.ts';
import type { ChannelIdentity } from './channel-event.ts';

/**
 * Where an end can be written to: a life of its agent, and since when that has listened without a break; 0 while it does
 * not.
 */
export interface PortAim {
  readonly life: string;
  readonly run: number;
}

/** An envelope to send, and its behalf: that of the work in hand, whatever the envelope says. */
export interface PortMessage {
  readonly envelope: A2AEnvelope;
  readonly behalf: Behalf | undefined;
}

/** What asks for a channel; `resumes`: the channel was open before. */
export interface OpenRequest extends PortAim {
  readonly resumes: boolean;
}

/** The answer to data; undefined when a handler was called. */
export type DataAnswer = undefined | 'later' | 'elsewhere' | 'closed';

/** The fields of all mail of one end. `justification`: as given when the channel was opened. */
export interface PortStamp extends ChannelIdentity {
  readonly granted: boolean;
  readonly justification: string | undefined;
}

const TYPES: Record<Exclude<ChannelMark['act'], 'data'>, A2AMessageType> = {
  open: 'stream-start',
  ready: 'notification',
  lost: 'notification',
  close: 'stream-end',
};

/** Mail by which one end tells the other of the channel itself. Its conversation is the channel. */
export function controlMail(
  stamp: PortStamp,
  act: keyof typeof TYPES,
  {
    id,
    nowMs,
    payload,
    deadlineAtMs = 0,
  }: {
    readonly id: string;
    readonly nowMs: number;
    readonly payload: unknown;
    readonly deadlineAtMs?: number;
  },
): Mail {
  const { channelId, localAgentId, remoteAgentId } = stamp;
  const mail = new Mail(
    id,
    '',
    typeIndex(TYPES[act]),
    localAgentId,
    remoteAgentId,
    channelId,
    nowMs,
    payload,
    undefined,
    deadlineAtMs,
    NO_ASK,
    undefined,
    undefined,
  );
  return marked(mail, stamp, { id: channelId, act });
}

/** The mail that carries what a user sent to `aim`. */
export function dataMail({ envelope, behalf }: PortMessage, stamp: PortStamp, { life, run }: PortAim): Mail {
  const mail = fromEnvelope(envelope);
  // No agent says for whom it works; the embedder does.
  if (mail.extras?.requester !== undefined && !isSystemId(stamp.localAgentId)) {
    const { requester: _requester, ...extras } = mail.extras;
    mail.extras = extras;
  }
  return marked(onBehalf(mail, behalf), stamp, { id: stamp.channelId, act: 'data', to: life, run });
}

/** The mail, as one that is sent on this behalf. */
export function onBehalf(mail: Mail, behalf: Behalf | undefined): Mail {
  if (behalf !== undefined) mail.extras = { ...mail.extras, ...behalf };
  return mail;
}

function marked(mail: Mail, { granted, justification }: PortStamp, mark: ChannelMark): Mail {
  const given = mail.extras?.justification ?? justification;
  mail.extras = {
    ...mail.extras,
    ...(given === undefined ? {} : { justification: given }),
    channel: granted ? { ...mark, granted } : mark,
  };
  return mail;
}
