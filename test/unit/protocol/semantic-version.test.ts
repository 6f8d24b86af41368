import { AgentRegistry, agentCardFromAcp, defineAgent } from 'orrery';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asSemanticVersion, SemanticVersion } from '../../../runtime/protocol/semantic-version.ts';
import { cardOf } from '../routing/standalone-team.ts';

const GOOD = [
  '0.0.0',
  '1.2.3',
  '10.20.30',
  '1.0.0-rc.1',
  '1.0.0-0',
  '1.0.0-a-b.c',
  '1.0.0+build.007',
  '1.0.0-x.1+y',
];
const BAD = [
  '1',
  '1.0',
  'v1.0.0',
  '01.0.0',
  '1.0.0.0',
  '1.0.0-',
  '1.0.0-01',
  '1.0.0-a..b',
  '1.0.0+',
  ' 1.0.0',
  'new',
  '',
];

describe('The version of a card (N-D26)', () => {
  it('is a semantic version; a card with another text is INVALID_CARD, which names the field', () => {
    const registry = new AgentRegistry();
    for (const version of GOOD) registry.register(cardOf('mars', { version }));
    expect(registry.getById('mars')).toMatchObject({ version: GOOD.at(-1), revision: GOOD.length - 1 });
    for (const version of [...BAD, `1.0.0-${'a'.repeat(300)}`])
      expect(() => registry.register(cardOf('venus', { version }))).toThrow(
        expect.objectContaining({
          code: 'INVALID_CARD',
          message: expect.stringMatching(/version is .*expected a semantic version such as "1\.0\.0"/),
        }),
      );
    expect(registry.getById('venus')).toBeUndefined();
  });

  it('is one wherever a card comes from: a saved registry, a descriptor, the definition of an agent', () => {
    const registry = new AgentRegistry();
    registry.register(cardOf('mars'));
    const saved = registry.serialize().replace('"version":"1.0.0"', '"version":"1"');
    expect(() => AgentRegistry.deserialize(saved)).toThrow(expect.objectContaining({ code: 'INVALID_CARD' }));
    const descriptor = { id: 'a', name: 'A', version: '1', description: '', author: '', capabilities: [] };
    expect(() => agentCardFromAcp(descriptor, { tier: 1, nowMs: 0 })).toThrow(
      /version is "1", expected a semantic/,
    );
    expect(() => defineAgent({ id: 'a', name: 'A', version: '1', description: '', tier: 1 })).toThrow(
      /agent\.version is "1", expected a semantic version/,
    );
  });

  it('is made of what others call one', () => {
    const cases = {
      '1': '1.0.0',
      'v2.3': '2.3.0',
      '1.2.3.4': '1.2.3',
      '1.0.0-rc.1': '1.0.0-rc.1',
      new: '0.0.0',
      '': '0.0.0',
    };
    for (const [text, version] of Object.entries(cases)) expect(asSemanticVersion(text)).toBe(version);
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^v?[\d.]{0,40}$/)), (text) => {
        expect(SemanticVersion.safeParse(asSemanticVersion(text)).success).toBe(true);
      }),
    );
  });

  it('is judged at once, however long the text is', () => {
    for (const text of ['1.0.0-', '1.0.0-0.', '1.0.0+a.'].map((part) => part + '0a.-'.repeat(200_000)))
      expect(SemanticVersion.safeParse(text).success).toBe(false);
  });
});
