import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { optionsIn, withOptions } from '../../../../actors/skills/module-options.ts';

const MODULE = new URL('file:///skills/memory.agent.ts?keep=1#part');

describe('Options in the address of a module', () => {
  it('come out as they went in (property)', () => {
    const options = fc.dictionary(fc.string(), fc.jsonValue({ noUnicodeString: false }));
    fc.assert(
      fc.property(options, (given) => {
        const json = JSON.parse(JSON.stringify(given));
        expect(optionsIn(withOptions(MODULE, given).href)).toEqual(json);
      }),
    );
  });

  it('leave the rest of it, and the address that was given', () => {
    const address = withOptions(MODULE, { store: 'a&b=c#d' });
    expect([address.pathname, address.searchParams.get('keep'), address.hash]).toEqual([
      '/skills/memory.agent.ts',
      '1',
      '#part',
    ]);
    expect(MODULE.href).toBe('file:///skills/memory.agent.ts?keep=1#part');
    expect(optionsIn(withOptions(address, { store: 'x' }).href)).toEqual({ store: 'x' });
  });

  it('are none where there are none', () => {
    expect(optionsIn(MODULE.href)).toEqual({});
  });
});
