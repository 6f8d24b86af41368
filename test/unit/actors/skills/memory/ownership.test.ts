import { describe, expect, it } from 'vitest';
import { MEMORY_LAYERS, type MemoryLayer, rankOf } from '../../../../../actors/skills/memory/memory-layer.ts';
import {
  isSamePlace,
  mayChange,
  maySee,
  ownershipFor,
  requireChanger,
} from '../../../../../actors/skills/memory/ownership.ts';
import { Role } from '../../../../../actors/skills/role.ts';
import type { SkillCaller } from '../../../../../actors/skills/skill-caller.ts';

const alice: SkillCaller = { tenant: 'acme', principalId: 'key:alice', role: 'admin', agentId: undefined };
const bob: SkillCaller = { ...alice, principalId: 'key:bob' };
const mars: SkillCaller = { ...alice, agentId: 'mars' };
const venus: SkillCaller = { ...alice, agentId: 'venus' };
const PRIVATE: readonly MemoryLayer[] = ['agent', 'user', 'session'];

describe('Whose a memory is (A-05)', () => {
  it.each(MEMORY_LAYERS)('of the layer %s', (layer) => {
    const isPrivate = PRIVATE.includes(layer);
    const its = ownershipFor(mars, layer, 'mars');
    expect(its).toEqual({ layer: rankOf(layer), owner: isPrivate ? 'key:alice' : '', scope: 'mars' });
    expect([mars, alice].every((caller) => maySee(caller, its))).toBe(true);
    expect(maySee(venus, its)).toBe(layer !== 'agent');
    expect(maySee(bob, its)).toBe(!isPrivate);
    expect(maySee({ ...bob, agentId: 'mars' }, its)).toBe(!isPrivate);
  });

  it('is of the principal that adds it, who sees it then, or it is refused', () => {
    for (const caller of [alice, bob, mars, venus])
      for (const layer of MEMORY_LAYERS)
        for (const scope of ['mars', 'venus', '']) {
          const mayAdd = layer !== 'agent' || caller.agentId === undefined || caller.agentId === scope;
          const add = () => ownershipFor(caller, layer, scope);
          if (mayAdd) expect(maySee(caller, add())).toBe(true);
          else expect(add).toThrow(expect.objectContaining({ code: 'NOT_PERMITTED' }));
        }
  });

  it('is the team itself of what nobody outside wanted, and what is private of that is not of all', () => {
    const team: SkillCaller = { tenant: '', principalId: '', role: 'admin', agentId: 'mars' };
    const its = ownershipFor(team, 'user', '');
    expect(its.owner).toBe('');
    expect(maySee({ ...alice, tenant: '' }, its)).toBe(false);
  });
});

describe('Who may change a memory', () => {
  const WRITERS: Readonly<Record<MemoryLayer, readonly Role[]>> = {
    agent: ['agent', 'developer', 'tech-lead', 'architect'],
    user: ['agent', 'developer', 'tech-lead', 'architect'],
    session: ['agent', 'developer', 'tech-lead', 'architect'],
    project: ['agent', 'developer', 'tech-lead', 'architect'],
    team: ['tech-lead', 'architect'],
    org: ['architect'],
    company: [],
  };
  const ADMINS: readonly Role[] = ['admin', 'tenant-admin', 'platform-admin', 'operator'];

  it.each(MEMORY_LAYERS)('of the layer %s, by role', (layer) => {
    const its = ownershipFor(mars, layer, 'mars');
    for (const role of Role.options) {
      const caller = { ...mars, role };
      const may = WRITERS[layer].includes(role) || ADMINS.includes(role);
      expect(mayChange(caller, its), role).toBe(may);
      for (const act of [
        () => ownershipFor(caller, layer, 'mars'),
        () => requireChanger(caller, its, 'change'),
        () => requireChanger(caller, its, 'remove'),
      ])
        if (may) act();
        else expect(act).toThrow(expect.objectContaining({ code: 'NOT_PERMITTED' }));
    }
  });

  it('is nobody who may not see it, whatever their role', () => {
    expect(mayChange(bob, ownershipFor(alice, 'user', ''))).toBe(false);
    expect(mayChange(venus, ownershipFor(mars, 'agent', 'mars'))).toBe(false);
  });

  it('is told which role it takes', () => {
    const its = ownershipFor(alice, 'team', '');
    expect(() => requireChanger({ ...bob, role: 'developer' }, its, 'remove')).toThrow(
      "To remove memories of the layer team takes the role tech-lead, and the caller's is developer",
    );
  });
});

describe('A place', () => {
  it('is a layer, an owner and a scope', () => {
    const its = { layer: 2, owner: 'a', scope: 's' };
    expect(isSamePlace(its, { ...its })).toBe(true);
    for (const other of [{ layer: 3 }, { owner: 'b' }, { scope: 't' }])
      expect(isSamePlace(its, { ...its, ...other })).toBe(false);
  });
});
