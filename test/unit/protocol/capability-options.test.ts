import { capability } from 'orrery';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const text = z.string();
const build = { id: 'build', description: 'Builds', input: text, output: text };

describe('A capability is refused where it is declared, naming field and value', () => {
  it.each([
    ['id', '', 'id is ""'],
    ['id', 'two words', 'id is "two words"'],
    ['id', 5, 'id is 5'],
    ['name', '', 'name is ""'],
    ['description', undefined, 'description is undefined'],
    ['input', undefined, 'input is undefined'],
    ['output', undefined, 'output is undefined'],
    ['output', 'text', 'output is "text"'],
    ['input', { safeParse: () => true }, 'input is {}'],
    ['carries', 'xml', 'carries is "xml"'],
    ['readOnly', 'yes', 'readOnly is "yes"'],
    ['read', true, 'read is true'],
  ])('%s: %s', (field, value, says) => {
    expect(() => capability({ ...build, [field]: value } as never)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining(`capability.${says}, expected `),
      }),
    );
  });

  it('nothing at all', () => {
    expect(() => capability(undefined as never)).toThrow(/^capability is undefined, expected/);
  });
});
