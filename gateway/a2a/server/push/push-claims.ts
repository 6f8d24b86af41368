import { createHash } from 'node:crypto';

/** The claims of a notification's token beside those of RFC 7519. */
export const CLAIMS = {
  body: 'request_body_sha256',
  task: 'task_id',
  notification: 'notification_id',
} as const;

/** The header that has the token. */
export const SIGNATURE_HEADER = 'X-A2A-Notification-Signature';
export const TOKEN_HEADER = 'X-A2A-Notification-Token';
export const NOTIFICATION_TYPE = 'a2a-notification+jwt';

/** In lower-case hexadecimal digits. */
export const sha256 = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex');
