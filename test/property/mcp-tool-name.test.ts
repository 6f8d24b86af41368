import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idOfName, nameOfId } from '../../actors/mcp-servers/tool-name.ts';
import { GivenCapability } from '../../runtime/protocol/capability-options.ts';

/** Made of what is hard: dots, what looks like an escape, and anything at all. */
const names = fc
  .array(
    fc.oneof(
      fc.constantFrom('.', '..', '_', '_u', '_u2e_', 'u2e_', '/', ' ', 'é', '😀', 'a', '-'),
      fc.string(),
    ),
  )
  .map((parts) => parts.join(''))
  .filter((name) => name !== '' && name.isWellFormed());

describe('the id under which a tool of an MCP server stands here', () => {
  it('is an id, and the tool’s name can be read from it', () => {
    fc.assert(
      fc.property(names, (name) => {
        const id = idOfName(name);
        expect(GivenCapability.shape.id.safeParse(id).success).toBe(true);
        expect(nameOfId(id)).toBe(name);
      }),
      { numRuns: 500 },
    );
  });

  it('is the name itself where that is an id and no escape', () => {
    const plain = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}(\.[a-z][a-z0-9_-]{0,8}){0,2}$/);
    fc.assert(
      fc.property(
        plain.filter((name) => !/_u[0-9a-f]/.test(name)),
        (name) => {
          expect(idOfName(name)).toBe(name);
        },
      ),
      { numRuns: 100 },
    );
  });
});
