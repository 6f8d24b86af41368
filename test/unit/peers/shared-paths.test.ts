import { describe, expect, it } from 'vitest';
import { PeerNames } from '../../../runtime/peers/peer-names.ts';
import { SharedPaths } from '../../../runtime/peers/shared-paths.ts';
import { AgentRegistry } from '../../../runtime/routing/agent-registry.ts';

const hop = (agent: string, envelopeId: string, capability = 'work') => ({ agent, capability, envelopeId });

function setUp() {
  const names = new PeerNames('rome', new AgentRegistry().table);
  names.choose({ node: 'oslo', agent: 'mars' });
  return { names, paths: new SharedPaths(names) };
}

describe('The paths of what another node sends (N-3.7)', () => {
  it('are one object for all that one work sends, with the names of here', () => {
    const { paths } = setUp();
    const path = () => [hop('rome/venus', 'e-0'), hop('oslo/mars', 'e-1')];
    const here = paths.here(path());
    expect(here).toEqual([hop('venus', 'e-0'), hop('mars', 'e-1')]);
    expect(paths.here(path())).toBe(here);
  });

  it.each([
    ['agents', [hop('oslo/pluto', 'e-1')]],
    ['capabilities', [hop('oslo/mars', 'e-1', 'rest')]],
    ['hops', [hop('oslo/mars', 'e-0'), hop('oslo/mars', 'e-1')]],
    ['envelopes', [hop('oslo/mars', 'e-2')]],
  ])('are others with other %s', (_, other) => {
    const { paths } = setUp();
    const first = paths.here([hop('oslo/mars', 'e-1')]);
    expect(paths.here(other)).not.toBe(first);
    expect(paths.here(other).map(({ envelopeId }) => envelopeId)).toEqual(other.map((one) => one.envelopeId));
  });

  it('have the name that an agent has here now', () => {
    const { names, paths } = setUp();
    expect(paths.here([hop('oslo/mars', 'e-1')])).toEqual([hop('mars', 'e-1')]);
    names.giveWay('oslo/mars');
    expect(paths.here([hop('oslo/mars', 'e-1')])).toEqual([hop('oslo/mars', 'e-1')]);
  });

  it('are not kept when they are long', () => {
    const { paths } = setUp();
    const long = () => Array.from({ length: 400 }, (_, n) => hop('oslo/mars', `e-${n}`));
    const here = paths.here(long());
    expect(here).toHaveLength(400);
    expect(paths.here(long())).not.toBe(here);
    expect(paths.here(long())).toEqual(here);
  });

  it('are kept as long as 63 others have not come after them', () => {
    const { paths } = setUp();
    const first = paths.here([hop('oslo/mars', 'e-0')]);
    for (let n = 1; n <= 63; n++) paths.here([hop('oslo/mars', `e-${n}`)]);
    expect(paths.here([hop('oslo/mars', 'e-0')])).toBe(first);
    paths.here([hop('oslo/mars', 'e-64')]);
    expect(paths.here([hop('oslo/mars', 'e-0')])).not.toBe(first);
  });
});
