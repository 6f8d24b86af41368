import { invalidPayload, type OrreryError } from '../../../../runtime/protocol/errors.ts';

/** A receiver is not posted to: `expected` says what its URL should have been. */
export const refusedReceiver = (url: string, expected: string): OrreryError =>
  invalidPayload('push notification config', `url is "${url}", expected ${expected}`);
