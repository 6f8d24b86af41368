import { canonicalizeAgentCard, generateAgentCardSignature, verifyAgentCardSignature } from '@a2a-js/sdk';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { signedPartOf } from '../../gateway/a2a/wire/card-shape.ts';
import { cardSigner, verifyCard } from '../../gateway/a2a/wire/card-signature.ts';
import type { Json } from '../../gateway/a2a/wire/json.ts';
import { withoutProto } from './arbitraries/json.ts';

const text = fc.string({ maxLength: 8 });
const texts = fc.array(text, { maxLength: 3 });
const anything = fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
const some = <Shape extends object>(shape: { [Name in keyof Shape]: fc.Arbitrary<Shape[Name]> }) =>
  fc.record(shape, { requiredKeys: [] });
const FLOWS = ['authorizationCode', 'clientCredentials', 'implicit', 'password', 'deviceCode'];
const flow = some({
  authorizationUrl: text,
  deviceAuthorizationUrl: text,
  refreshUrl: text,
  tokenUrl: text,
  pkceRequired: fc.boolean(),
  scopes: fc.dictionary(text, text),
});
const requirements = fc.array(some({ schemes: fc.dictionary(text, some({ list: texts })) }), {
  maxLength: 2,
});

/** A card with any of its fields there, left out or empty, and with some that nobody knows. */
const arbCard = withoutProto(
  some({
    name: text,
    description: text,
    version: text,
    documentationUrl: text,
    iconUrl: text,
    provider: some({ url: text, organization: text }),
    supportedInterfaces: fc.array(
      some({ url: text, protocolBinding: text, tenant: text, protocolVersion: text, unknown: text }),
      { maxLength: 2 },
    ),
    capabilities: some({
      streaming: fc.boolean(),
      pushNotifications: fc.boolean(),
      extendedAgentCard: fc.boolean(),
      stateTransitionHistory: fc.boolean(),
      extensions: fc.array(some({ uri: text, description: text, required: fc.boolean(), params: anything }), {
        maxLength: 2,
      }),
    }),
    securitySchemes: fc.dictionary(
      text,
      fc.oneof(
        some({ apiKeySecurityScheme: some({ description: text, location: text, name: text }), type: text }),
        some({ httpAuthSecurityScheme: some({ scheme: text, bearerFormat: text }) }),
        some({ mtlsSecurityScheme: some({ description: text }) }),
        some({ openIdConnectSecurityScheme: some({ openIdConnectUrl: text }) }),
        some({
          oauth2SecurityScheme: some({
            oauth2MetadataUrl: text,
            flows: fc.oneof(...FLOWS.map((name) => some({ [name]: flow }))),
          }),
        }),
      ),
      { maxKeys: 3 },
    ),
    securityRequirements: requirements,
    defaultInputModes: texts,
    defaultOutputModes: texts,
    skills: fc.array(
      some({
        id: text,
        name: text,
        description: text,
        tags: texts,
        examples: texts,
        inputModes: texts,
        securityRequirements: requirements,
        security: anything,
      }),
      { maxLength: 2 },
    ),
    url: text,
    protocolVersion: text,
  }),
);

const wired = (value: unknown): never => JSON.parse(JSON.stringify(value)) as never;

async function keyPair(alg: string): Promise<{ readonly own: JWK; readonly keys: { keys: JWK[] } }> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const [own, open] = await Promise.all([exportJWK(privateKey), exportJWK(publicKey)]);
  return { own: { ...own, kid: 'k', alg }, keys: { keys: [{ ...open, kid: 'k', alg }] } };
}

describe("A-03, C-02 signed cards against the SDK's", () => {
  // The SDK prints every signature that does not hold.
  const printed = vi.spyOn(console, 'debug');
  beforeAll(() => void printed.mockReturnValue());
  afterAll(() => printed.mockRestore());

  it('what is signed is to the byte what the SDK signs', () => {
    fc.assert(
      fc.property(arbCard, (card) => {
        expect(canonicalize(signedPartOf(wired(card)))).toBe(canonicalizeAgentCard(wired(card)));
      }),
      { numRuns: 500 },
    );
  });

  it.each(['ES256', 'EdDSA', 'RS256'])(
    'ours are verified by the SDK, and theirs by us, with %s',
    async (alg) => {
      const { own, keys } = await keyPair(alg);
      const sign = cardSigner({ key: own });
      const theirs = generateAgentCardSignature(own, { alg, kid: 'k', typ: 'JOSE' });
      const verify = verifyAgentCardSignature(async () => keys.keys[0] as JWK);
      await fc.assert(
        fc.asyncProperty(arbCard, text, async (card, name) => {
          const signed = (await sign(wired(card))) as Record<string, Json>;
          await verify(wired(signed));
          expect(await verifyCard(signed, keys)).toBe('k');
          if (name !== (signed['name'] ?? ''))
            await expect(verifyCard({ ...signed, name }, keys)).rejects.toThrow('none of them holds');
          const foreign = wired(await theirs(wired(card)));
          expect(await verifyCard(foreign, keys)).toBe('k');
        }),
        { numRuns: 100 },
      );
    },
  );

  it('a key that cannot sign is refused, naming what is missing', async () => {
    const { own, keys } = await keyPair('ES256');
    const { kid: _kid, ...nameless } = own;
    expect(() => cardSigner({ key: nameless })).toThrow('signing.key.kid');
    expect(() => cardSigner({ key: { ...own, alg: 'HS256' } })).toThrow('signing.key.alg');
    expect(() => cardSigner({ key: { ...own, alg: 'none' } })).toThrow('signing.key.alg');
    expect(() => cardSigner({ key: { ...own, alg: 'EdDSA' } })).toThrow('signing.key.alg');
    const { own: rsa } = await keyPair('RS256');
    const { alg: _alg, ...unsaid } = rsa;
    expect(() => cardSigner({ key: unsaid })).toThrow('RS256, RS512, PS256, PS512');
    expect(() => cardSigner({ key: { ...rsa, alg: 'ES256' } })).toThrow('signing.key.alg');
    expect(() => cardSigner({ key: keys.keys[0] as JWK })).toThrow('signing.key');
    expect(() => cardSigner({ key: { ...own, d: '!' } })).toThrow('signing.key');
  });
});
