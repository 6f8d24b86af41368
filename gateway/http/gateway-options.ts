import { invalidOptions } from '../../runtime/protocol/errors.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import type { GatewayLimits } from './gateway-limits.ts';
import type { Admit, GatewayPart } from './gateway-part.ts';

/** What went wrong with which request. */
export interface GatewayFault {
  readonly error: unknown;
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
}

/**
 * - `parts`     the protocols that it speaks.
 * - `admit`     who stands behind a request.
 * - `schemes`   how one can prove that, as announced to whoever has not; none: nobody can.
 * - `hosts`     names that it is reached under, beside those of this machine and plain addresses; 'any' leaves that to
 *               whoever stands before it. @default []
 * - `origins`   of whose pages browsers may use it, such as `https://app.example`. @default []
 * - `publicUrl` under which callers reach it, where that is not what their requests say: behind a proxy.
 * - `onFault`   hears of errors that no caller is told of.
 */
export interface GatewayOptions {
  readonly parts: readonly GatewayPart[];
  readonly admit: Admit;
  readonly schemes?: readonly string[];
  readonly seams: Seams;
  readonly limits?: GatewayLimits;
  readonly hosts?: readonly string[] | 'any';
  readonly origins?: readonly string[];
  readonly publicUrl?: string;
  readonly onFault?: (fault: GatewayFault) => void;
}

/** Throws INVALID_OPTIONS. */
export function parsePublicUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '') return url;
  throw invalidOptions('publicUrl', text, 'the URL of the gateway, such as https://agents.example');
}

/** Throws INVALID_OPTIONS. */
export function parseOrigin(text: string, at: number): string {
  if (URL.canParse(text) && new URL(text).origin === text && text !== 'null') return text;
  throw invalidOptions(`origins[${at}]`, text, 'an origin, such as https://app.example');
}
