import { OrreryError } from '../../runtime/protocol/errors.ts';

export const crdtDeserializationFailed = (agentId: string, reason: string): OrreryError =>
  new OrreryError('CRDT_DESERIALIZATION_FAILED', `The update of ${agentId} cannot be applied: ${reason}`, {
    details: { agentId, reason },
  });

export const syncChannelClosed = (channelId: string): OrreryError =>
  new OrreryError('CHANNEL_CLOSED', `The sync channel "${channelId}" is closed`, { details: { channelId } });

export const updateTooLarge = (bytes: number, maxBytes: number): OrreryError =>
  new OrreryError('INVALID_PAYLOAD', `The update has ${bytes} bytes, at most ${maxBytes} are carried`, {
    details: { bytes, maxBytes },
  });

export const notPassedOn = (channelId: string, cause: unknown): OrreryError =>
  new OrreryError(
    'DELIVERY_FAILED',
    `The medium of the sync channel "${channelId}" did not pass a message on`,
    {
      details: { channelId },
      cause,
    },
  );
