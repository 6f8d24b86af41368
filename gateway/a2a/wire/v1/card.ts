import type { Json } from '../json.ts';
import { JSON_MODE, TEXT_MODE } from '../media-modes.ts';
import type { SecurityScheme, ServedCard, ServedExtension, ServedSkill } from '../operations.ts';

type Fields = { readonly [key: string]: Json };

/**
 * The card in ProtoJSON of 1.0. The first interface is the preferred one; an agent of several behind one address is named by
 * `tenant`, and its address names it as well.
 */
export function writeCard(card: ServedCard): Fields {
  const { name, description, version, provider, documentationUrl, iconUrl, skills } = card;
  const schemes = Object.entries(card.securitySchemes);
  return {
    name,
    description,
    supportedInterfaces: interfacesOf(card),
    ...(provider === undefined ? {} : { provider: { ...provider } }),
    version,
    ...(documentationUrl === undefined ? {} : { documentationUrl }),
    capabilities: {
      streaming: true,
      pushNotifications: card.pushNotifications,
      ...(card.extensions.length === 0 ? {} : { extensions: card.extensions.map(writeExtension) }),
      extendedAgentCard: card.hasExtendedCard,
    },
    ...(schemes.length === 0
      ? {}
      : {
          securitySchemes: Object.fromEntries(schemes.map(([id, scheme]) => [id, writeScheme(scheme)])),
          // Any one of them will do.
          securityRequirements: schemes.map(([id]) => ({ schemes: { [id]: {} } })),
        }),
    defaultInputModes: modesOf(skills, 'inputModes'),
    defaultOutputModes: modesOf(skills, 'outputModes'),
    skills: skills.map(writeSkill),
    ...(iconUrl === undefined ? {} : { iconUrl }),
  };
}

function interfacesOf({ id, baseUrl, grpcUrl }: ServedCard): Json {
  const tenant = id === undefined ? {} : { tenant: id };
  const one = (url: string, protocolBinding: string): Fields => ({
    url,
    protocolBinding,
    ...tenant,
    protocolVersion: '1.0',
  });
  const own = id === undefined ? baseUrl : `${baseUrl}/${encodeURIComponent(id)}`;
  return [
    one(`${own}/rpc`, 'JSONRPC'),
    // Its clients put the tenant into the path themselves.
    one(baseUrl, 'HTTP+JSON'),
    ...(grpcUrl === undefined ? [] : [one(grpcUrl, 'GRPC')]),
  ];
}

/** In which the agent may be talked to, whatever the skill. */
export function modesOf(
  skills: readonly ServedSkill[],
  which: 'inputModes' | 'outputModes',
): readonly string[] {
  const modes = [...new Set(skills.flatMap((skill) => skill[which]))];
  return modes.length === 0 ? [TEXT_MODE, JSON_MODE] : modes;
}

export const writeSkill = ({
  id,
  name,
  description,
  tags,
  inputModes,
  outputModes,
}: ServedSkill): Fields => ({
  id,
  name,
  description,
  tags,
  inputModes,
  outputModes,
});

const writeExtension = ({ uri, description, required, params }: ServedExtension): Fields => ({
  uri,
  description,
  ...(required ? { required } : {}),
  ...(params === undefined ? {} : { params: params as Fields }),
});

function writeScheme(scheme: SecurityScheme): Fields {
  const description = scheme.description === undefined ? {} : { description: scheme.description };
  switch (scheme.type) {
    case 'apiKey':
      return { apiKeySecurityScheme: { ...description, location: scheme.in, name: scheme.name } };
    case 'http':
      return {
        httpAuthSecurityScheme: {
          ...description,
          scheme: scheme.scheme,
          ...(scheme.bearerFormat === undefined ? {} : { bearerFormat: scheme.bearerFormat }),
        },
      };
    case 'mutualTLS':
      return { mtlsSecurityScheme: description };
  }
}
