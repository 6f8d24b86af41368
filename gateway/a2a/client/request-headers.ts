import { DELEGATION_URI } from '../../../runtime/protocol/a2a-extension.ts';
import type { ClientSettings, OutgoingRequest } from './client-options.ts';
import { EXTENSION_HEADERS, VERSION_HEADER } from '../wire/dialect.ts';

/** The headers that prove who the client is. */
export async function credentialHeaders(
  { credentials }: Pick<ClientSettings, 'credentials'>,
  request: OutgoingRequest,
): Promise<Readonly<Record<string, string>>> {
  if (credentials === undefined) return {};
  if ('bearer' in credentials) return { authorization: `Bearer ${credentials.bearer}` };
  if ('apiKey' in credentials) return { [credentials.header.toLowerCase()]: credentials.apiKey };
  return credentials.headers(request);
}

/**
 * The headers that name the version and activate extensions. In 0.3 the latter is called `X-A2A-Extensions`. Our extension is
 * activated if the card announces it.
 */
export function protocolHeaders(
  version: string | undefined,
  { extensions }: Pick<ClientSettings, 'extensions'>,
  announcesOurs: boolean,
): Readonly<Record<string, string>> {
  const activated = [...(announcesOurs ? [DELEGATION_URI] : []), ...extensions].join(', ');
  return {
    ...(version === undefined ? {} : { [VERSION_HEADER]: version }),
    ...(activated === '' ? {} : Object.fromEntries(EXTENSION_HEADERS.map((name) => [name, activated]))),
  };
}
