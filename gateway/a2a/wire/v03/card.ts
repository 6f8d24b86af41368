import type { Json } from '../json.ts';
import { JSON_MODE, TEXT_MODE } from '../media-modes.ts';
import type { ServedCard, ServedSkill } from '../operations.ts';
import { defined } from '../parts.ts';

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
    defaultInputModes: modesOf(card, 'inputModes'),
    defaultOutputModes: modesOf(card, 'outputModes'),
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

const writeSkill = ({ id, name, description, tags, inputModes, outputModes }: ServedSkill): Json => ({
  id,
  name,
  description,
  tags,
  inputModes,
  outputModes,
});

const writeExtension = ({ uri, description, required, params }: ServedCard['extensions'][number]): Json => ({
  uri,
  description,
  required,
  ...(params === undefined ? {} : { params: params as Readonly<Record<string, Json>> }),
});

/** In which the agent may be talked to, whatever the skill. */
function modesOf({ skills }: ServedCard, which: 'inputModes' | 'outputModes'): readonly string[] {
  const modes = [...new Set(skills.flatMap((skill) => skill[which]))];
  return modes.length === 0 ? [TEXT_MODE, JSON_MODE] : modes;
}
