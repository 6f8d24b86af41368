import type { Json } from '../json.ts';
import type { SecurityScheme, ServedCard } from '../operations.ts';
import { writeCard as writeCard03 } from '../v03/card.ts';

/** Fields that 0.1 has not got. */
const LATER = [
  'protocolVersion',
  'preferredTransport',
  'additionalInterfaces',
  'securitySchemes',
  'security',
  'supportsAuthenticatedExtendedCard',
];

/** The card as 0.1 has it: how to prove who one is, is a list of the schemes' names. */
export function writeCard(card: ServedCard): { readonly [key: string]: Json } {
  const shown = Object.entries(writeCard03(card)).filter(([field]) => !LATER.includes(field));
  const schemes = Object.values(card.securitySchemes).map(nameOf);
  return {
    ...Object.fromEntries(shown),
    authentication: schemes.length === 0 ? null : { schemes },
  };
}

const nameOf = (scheme: SecurityScheme): string => (scheme.type === 'http' ? scheme.scheme : scheme.type);
