import type { Json } from './json.ts';

/**
 * Which fields a card of A2A 1.0 has, for what a signature covers. `*` stands for any name, `true` for a value that is taken
 * as it is, `flag` for one that is left out when it is false; a list is that of its items.
 */
interface CardShape {
  readonly [field: string]: CardShape | readonly [CardShape] | true | 'flag';
}

const FLOW = { refreshUrl: true, scopes: true } as const;

const REQUIREMENTS = [{ schemes: { '*': { list: true } } }] as const;

const CARD: CardShape = {
  name: true,
  description: true,
  supportedInterfaces: [{ url: true, protocolBinding: true, tenant: true, protocolVersion: true }],
  provider: { url: true, organization: true },
  version: true,
  documentationUrl: true,
  capabilities: {
    streaming: true,
    pushNotifications: true,
    extensions: [{ uri: true, description: true, required: 'flag', params: true }],
    extendedAgentCard: true,
  },
  securitySchemes: {
    '*': {
      apiKeySecurityScheme: { description: true, location: true, name: true },
      httpAuthSecurityScheme: { description: true, scheme: true, bearerFormat: true },
      oauth2SecurityScheme: {
        description: true,
        oauth2MetadataUrl: true,
        flows: {
          authorizationCode: { ...FLOW, authorizationUrl: true, tokenUrl: true, pkceRequired: 'flag' },
          clientCredentials: { ...FLOW, tokenUrl: true },
          implicit: { ...FLOW, authorizationUrl: true },
          password: { ...FLOW, tokenUrl: true },
          deviceCode: { ...FLOW, deviceAuthorizationUrl: true, tokenUrl: true },
        },
      },
      openIdConnectSecurityScheme: { description: true, openIdConnectUrl: true },
      mtlsSecurityScheme: { description: true },
    },
  },
  securityRequirements: REQUIREMENTS,
  defaultInputModes: true,
  defaultOutputModes: true,
  skills: [
    {
      id: true,
      name: true,
      description: true,
      tags: true,
      examples: true,
      inputModes: true,
      outputModes: true,
      securityRequirements: REQUIREMENTS,
    },
  ],
  iconUrl: true,
};

/**
 * What a signature over a card covers: the fields that a card of 1.0 has but its signatures, without those that are empty,
 * since proto does not tell them from fields that are left out.
 */
export function signedPartOf(card: unknown): Json {
  return shown(card, CARD) ?? {};
}

function shown(value: unknown, shape: CardShape | readonly [CardShape] | true | 'flag'): Json | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (shape === 'flag') return value === true ? true : undefined;
  if (shape === true) return withoutEmpty(value);
  if (Array.isArray(shape)) {
    const [item] = shape as readonly [CardShape];
    const items = Array.isArray(value) ? value.map((one: unknown) => shown(one, item)) : [];
    return filled(items.filter((one) => one !== undefined));
  }
  if (typeof value !== 'object') return undefined;
  const fields = Object.entries(value).map(([name, field]) => {
    const known = Object.hasOwn(shape, name) ? (shape as CardShape)[name] : (shape as CardShape)['*'];
    return [name, known === undefined ? undefined : shown(field, known)] as const;
  });
  return filledObject(fields);
}

function withoutEmpty(value: unknown): Json | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (Array.isArray(value)) return filled(value.map(withoutEmpty).filter((one) => one !== undefined));
  if (typeof value !== 'object') return value as Json;
  return filledObject(Object.entries(value).map(([name, field]) => [name, withoutEmpty(field)] as const));
}

const filled = (items: readonly Json[]): Json | undefined => (items.length === 0 ? undefined : items);

function filledObject(fields: readonly (readonly [string, Json | undefined])[]): Json | undefined {
  const there = fields.filter((field): field is readonly [string, Json] => field[1] !== undefined);
  return there.length === 0 ? undefined : Object.fromEntries(there);
}
