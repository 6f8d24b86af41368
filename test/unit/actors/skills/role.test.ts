import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayAs, Role, requireRole, roleOf } from '../../../../actors/skills/role.ts';

/** Those that may the least first. */
const LADDER: readonly (readonly Role[])[] = [
  ['viewer'],
  ['agent', 'developer'],
  ['tech-lead'],
  ['architect'],
  ['admin', 'tenant-admin', 'platform-admin', 'operator'],
];
const stepOf = (role: Role): number => LADDER.findIndex((roles) => roles.includes(role));

describe('A role', () => {
  it('may what those below it may, and what those beside it may', () => {
    expect(Role.options.toSorted()).toEqual(LADDER.flat().toSorted());
    for (const role of Role.options)
      for (const needed of Role.options) {
        const may = stepOf(role) >= stepOf(needed);
        expect(mayAs(role, needed), `${role} as ${needed}`).toBe(may);
        const require = () => requireRole({ role }, needed, 'do it');
        if (may) require();
        else
          expect(require).toThrow(
            expect.objectContaining({
              code: 'NOT_PERMITTED',
              message: `To do it takes the role ${needed}, and the caller's is ${role}`,
              details: expect.objectContaining({ needed, role }),
            }),
          );
      }
  });

  it.each([
    [['TechLead'], 'tech-lead'],
    [['tech_lead'], 'tech-lead'],
    [['Tech  Lead'], 'tech-lead'],
    [['TENANT_ADMIN'], 'tenant-admin'],
    [['platformAdmin'], 'platform-admin'],
    [['viewer', 'Architect', 'developer'], 'architect'],
    [['operator', 'viewer'], 'operator'],
    [[], 'viewer'],
    [['root', 'owner', '', 'admin2', 'superadmin', ' admin'], 'viewer'],
    [['constructor', '__proto__', 'toString', 'hasOwnProperty'], 'viewer'],
  ] as const)('of a caller with the names %j is %s', (names, role) => {
    expect(roleOf(names, undefined)).toBe(role);
  });

  it('is by the meanings alone where the deployment has some', () => {
    const meanings = { boss: 'admin', staff: 'developer', admin: 'viewer' } as const;
    expect(roleOf(['staff'], meanings)).toBe('developer');
    expect(roleOf(['staff', 'boss'], meanings)).toBe('admin');
    for (const names of [['admin'], ['Boss'], ['architect'], ['constructor'], ['__proto__'], []])
      expect(roleOf(names, meanings)).toBe('viewer');
    expect(roleOf(['admin'], {})).toBe('viewer');
  });

  it('is the highest of all that the names mean, in any order (property)', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...Role.options, 'nobody', 'constructor')), (names) => {
        const role = roleOf(names, undefined);
        const known = names.filter((name): name is Role => Role.safeParse(name).success);
        expect(stepOf(role)).toBe(Math.max(0, ...known.map(stepOf)));
        expect(stepOf(roleOf([...names].reverse(), undefined))).toBe(stepOf(role));
      }),
    );
  });
});
