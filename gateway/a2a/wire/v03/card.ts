import type { Json } from '../json.ts';
import type { ServedCard } from '../operations.ts';
import { defined } from '../parts.ts';
import { modesOf, writeSkill } from '../v1/card.ts';

const PROTOCOL_VERSION = '0.3.0';

/** The card as 0.3 has it: JSON-RPC first, REST beside it. Any one of the ways to prove who one is will do. */
export function writeCard(card: ServedCard): { readonly [key: string]: Json } {
  const { name, description, version, provider, documentationUrl, iconUrl } = card;
  const prefix = card.id === undefined ? card.baseUrl : `${card.baseUrl}/${encodeURIComponent(card.id)}`;
  const url = `${prefix}/rpc`;
  return {
    protocolVersion: PROTOCOL_VERSION,
    name,
    description,
    version,
    url,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [
      { transport: 'JSONRPC', url },
      { transport: 'HTTP+JSON', url: prefix },
    ],
    ...defined({ provider, documentationUrl, iconUrl }),
    capabilities: {
      streaming: true,
      pushNotifications: card.pushNotifications,
      stateTransitionHistory: false,
      ...(card.extensions.length === 0 ? {} : { extensions: card.extensions.map(writeExtension) }),
    },
    ...writeSecurity(card),
    defaultInputModes: modesOf(card.skills, 'inputModes'),
    defaultOutputModes: modesOf(card.skills, 'outputModes'),
    skills: card.skills.map(writeSkill),
    supportsAuthenticatedExtendedCard: card.hasExtendedCard,
  };
}

function writeSecurity({ securitySchemes }: ServedCard): { readonly [key: string]: Json } {
  const names = Object.keys(securitySchemes);
  if (names.length === 0) return {};
  return {
    securitySchemes: securitySchemes as Readonly<Record<string, Json>>,
    security: names.map((name) => ({ [name]: [] })),
  };
}

const writeExtension = ({ uri, description, required, params }: ServedCard['extensions'][number]): Json => ({
  uri,
  description,
  required,
  ...(params === undefined ? {} : { params: params as Readonly<Record<string, Json>> }),
});
