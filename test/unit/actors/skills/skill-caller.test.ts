import { describe, expect, it } from 'vitest';
import { skillCallerOf } from '../../../../actors/skills/skill-caller.ts';
import { ANONYMOUS, anonymousFrom } from '../../../../runtime/protocol/principal.ts';

type Handled = Parameters<typeof skillCallerOf>[0];

const handling = (sender: string, requester?: object): Handled =>
  ({
    envelope: { sender, payload: { tenant: 'evil', principalId: 'evil' } },
    requester,
  }) as unknown as Handled;

const SYSTEM = 'system/';
const key = { principalId: 'key:alice', roles: ['developer'], tier: 3 };

describe('The caller of a skill (A-05)', () => {
  it('is who the runtime says wanted the work', () => {
    expect(skillCallerOf(handling('mars', { ...key, tenant: 'acme' }), undefined)).toEqual({
      tenant: 'acme',
      principalId: 'key:alice',
      role: 'developer',
      agentId: 'mars',
    });
  });

  it('has the tenant of none where its credentials name none', () => {
    expect(skillCallerOf(handling('mars', key), undefined).tenant).toBe('');
  });

  it('is no agent where a part of the system itself sends it on', () => {
    for (const sender of [`${SYSTEM}gateway`, `${SYSTEM}tasks`])
      expect(skillCallerOf(handling(sender, key), undefined).agentId).toBeUndefined();
    expect(skillCallerOf(handling('gateway', key), undefined).agentId).toBe('gateway');
  });

  it('is the team itself, which may everything, where nobody outside wanted it', () => {
    expect(skillCallerOf(handling('mars'), { boss: 'admin' })).toEqual({
      tenant: '',
      principalId: '',
      role: 'admin',
      agentId: 'mars',
    });
  });

  it('has the role that its names mean to the deployment', () => {
    const caller = { ...key, roles: ['boss', 'admin'] };
    expect(skillCallerOf(handling('mars', caller), { boss: 'architect' }).role).toBe('architect');
    expect(skillCallerOf(handling('mars', { ...key, roles: [] }), undefined).role).toBe('viewer');
  });

  it.each([ANONYMOUS, anonymousFrom('10.0.0.1'), { ...ANONYMOUS, roles: ['admin'] }])(
    'is nobody who has proved nothing',
    ({ id, roles }) => {
      const anonymous = handling('mars', { principalId: id, roles, tier: 3, tenant: 'acme' });
      expect(() => skillCallerOf(anonymous, undefined)).toThrow(
        expect.objectContaining({ code: 'UNAUTHENTICATED' }),
      );
    },
  );
});
