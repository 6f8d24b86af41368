import nodeModule from 'node:module';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { cardVerifier } from '../../../../../gateway/a2a/client/card/verify-card.ts';
import { rejection } from '../../../../fixtures/until.ts';

const AT = new URL('https://there.example/.well-known/agent-card.json');
const SIGNED = { name: 'there', signatures: [{ protected: 'e30', signature: 'AA' }] };

const verifier = () =>
  cardVerifier({
    settings: { trust: { keys: { keys: [] } } } as never,
    calls: {} as never,
    clock: { now: () => 0 },
  });

afterEach(() => {
  vi.restoreAllMocks();
});

describe('A card that is verified', () => {
  it('is refused where what verifies it is not installed, and all of that is named', async () => {
    const find = nodeModule.findPackageJSON;
    vi.spyOn(nodeModule, 'findPackageJSON').mockImplementation((name, base) =>
      name === 'jose' ? undefined : find(name, base),
    );
    expect(await rejection(verifier()(SIGNED, AT))).toMatchObject({
      code: 'PEERS_MISSING',
      message: expect.stringContaining('jose'),
    });
  });

  it('is refused when none of the trusted keys has signed it', async () => {
    expect(await rejection(verifier()(SIGNED, AT))).toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});
