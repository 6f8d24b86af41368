import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { portableName, ToolNames } from '../../runtime/protocol/tool-names.ts';
import { UriTemplate } from '../../runtime/protocol/uri-template.ts';
import { arbAgentId, arbToolName } from './arbitraries/tool.ts';

const RUNS = { numRuns: 200 };

describe('Portable names (C-28)', () => {
  it('are of few characters, short, distinct, and mean the tool that they are made of', () => {
    const arbNames = fc.uniqueArray(
      fc.record({
        agentId: fc.oneof(
          arbAgentId,
          fc.string({ minLength: 1, maxLength: 80, size: 'max' }),
          fc.constantFrom('a', 'a.b', 'a_b', 'a__b'),
        ),
        own: fc.oneof(arbToolName, fc.constantFrom('b.c', 'c', 'b_c', 'b__c', 'x'.repeat(90))),
      }),
      { maxLength: 20, selector: ({ agentId, own }) => `${agentId}.${own}` },
    );
    fc.assert(
      fc.property(arbNames, fc.nat(), (named, seed) => {
        const items = named.map(({ agentId, own }) => ({ agentId, name: `${agentId}.${own}` }));
        const names = new ToolNames(items);
        const portable = items.map((item) => names.portable(item));
        expect(new Set(portable).size).toBe(items.length);
        for (const [at, item] of items.entries()) {
          expect(portable[at]).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
          expect(names.find(item.name)).toBe(item);
          expect(names.find(portable[at] as string)).toBe(item);
        }
        // In whatever order they come, they have the same names.
        const turned = items.map((_, at) => items[(at + seed) % items.length] as (typeof items)[number]);
        const again = new ToolNames(turned);
        expect(items.map((item) => again.portable(item))).toEqual(portable);
      }),
      { numRuns: 500 },
    );
  });

  it('have a hash where they would be too long or the same', () => {
    expect(portableName({ agentId: 'mars', name: 'mars.types.check' })).toBe('mars__types_check');
    const long = portableName({ agentId: 'mars', name: `mars.${'x'.repeat(80)}` });
    expect(long).toMatch(/^mars__x{49}_[0-9a-f]{8}$/);
    const same = [
      { agentId: 'a', name: 'a.b.c' },
      { agentId: 'a', name: 'a.b_c' },
    ];
    const names = new ToolNames(same);
    for (const item of same) expect(names.portable(item)).toMatch(/^a__b_c_[0-9a-f]{8}$/);
    expect(names.find('a__b_c')).toBeUndefined();
  });
});

describe('URI templates (RFC 6570)', () => {
  const arbValue = fc.string({ minLength: 1, unit: 'grapheme' });

  it('give back the variables that a URI was made of', () => {
    const arbParts = fc.array(fc.tuple(fc.stringMatching(/^[a-z]{0,3}[/:;=]$/), arbValue), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(arbParts, fc.constantFrom('', '.txt', '/end'), (parts, tail) => {
        const template = new UriTemplate(
          `x:/${parts.map(([text], at) => `${text}{v${at}}`).join('')}${tail}`,
        );
        const uri = `x:/${parts.map(([text, value]) => `${text}${encodeURIComponent(value)}`).join('')}${tail}`;
        const isStep = parts.some(
          ([, value]) => ['.', '..'].includes(value) || /[/\\]/.test(value) || value.includes('\0'),
        );
        expect(template.match(uri)).toEqual(
          isStep ? undefined : Object.fromEntries(parts.map(([, value], at) => [`v${at}`, value])),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('never have a step of a path for a variable, however it is written', () => {
    const arbDots = fc.constantFrom(
      '.',
      '..',
      '%2e',
      '%2E%2e',
      '.%2e',
      '..%2f',
      '%2fetc',
      '..%5C',
      'a%2F..%2Fb',
      '%00',
    );
    fc.assert(
      fc.property(
        arbDots,
        fc.constantFrom('file:///docs/{name}', 'file:///docs/{name}/x'),
        (dots, source) => {
          const template = new UriTemplate(source);
          expect(template.match(source.replace('{name}', dots))).toBeUndefined();
        },
      ),
      { numRuns: 100 },
    );
  });

  it('take nothing that is not of them, and throw at nothing', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `log://${text}/x`),
        ),
        (uri) => {
          const found = new UriTemplate('log://{day}/x').match(uri);
          if (found === undefined) return;
          expect(uri.startsWith('log://') && uri.endsWith('/x')).toBe(true);
          expect(found['day']).not.toBe('');
        },
      ),
      RUNS,
    );
  });
});
