import { describe, expect, it } from 'vitest';
import { sandbox } from '../../../policies/sandbox.ts';
import { codeOf, partyOf, requestOf, SYSTEM } from './judge-request.ts';

describe('sandbox (N-10.1, N-10.2, N-E04, C-31, C-34)', () => {
  const config = { enforced: true, crossSandboxAllowList: ['clerk'], allow: { 'box-a': ['helper'] } };
  const inA = partyOf('in-a', { sandboxId: 'box-a' });
  const inB = partyOf('in-b', { sandboxId: 'box-b' });
  const free = partyOf('free');

  it('binds what a sandboxed agent sends to its sandbox and the lists', () => {
    expect(codeOf(sandbox(config), { sender: inA, recipient: inB })).toBe('SANDBOX_VIOLATION');
    expect(codeOf(sandbox(config), { sender: inA, recipient: free })).toBe('SANDBOX_VIOLATION');
    expect(
      codeOf(sandbox(config), { sender: inA, recipient: partyOf('other', { sandboxId: 'box-a' }) }),
    ).toBeUndefined();
    expect(codeOf(sandbox(config), { sender: inA, recipient: partyOf('clerk') })).toBeUndefined();
    expect(codeOf(sandbox(config), { sender: inA, recipient: partyOf('helper') })).toBeUndefined();
    expect(codeOf(sandbox(config), { sender: inB, recipient: partyOf('helper') })).toBe('SANDBOX_VIOLATION');
  });

  it('says who may not write where', () => {
    expect(sandbox().judge(requestOf({ sender: inA, recipient: inB }))?.reason).toBe(
      'in-a in sandbox "box-a" may not write to in-b in sandbox "box-b"',
    );
  });

  it('lets an unsandboxed agent tell a sandboxed one, but not ask it', () => {
    expect(codeOf(sandbox(), { sender: free, recipient: inA })).toBeUndefined();
    expect(codeOf(sandbox(), { sender: free, recipient: inA, expectsReply: true })).toBe('SANDBOX_VIOLATION');
    expect(
      codeOf(sandbox(config), { sender: partyOf('clerk'), recipient: inA, expectsReply: true }),
    ).toBeUndefined();
  });

  it('lets the system through in both directions', () => {
    expect(codeOf(sandbox(), { sender: SYSTEM, recipient: inA, expectsReply: true })).toBeUndefined();
    expect(codeOf(sandbox(), { sender: inA, recipient: SYSTEM, expectsReply: true })).toBeUndefined();
  });

  it('exempts no granted reply, no call of a tool, and no broadcast of tier 0', () => {
    expect(codeOf(sandbox(), { sender: inA, recipient: free, isGranted: true })).toBe('SANDBOX_VIOLATION');
    expect(codeOf(sandbox(), { sender: inA, recipient: free, isTool: true })).toBe('SANDBOX_VIOLATION');
    const sun = partyOf('sun', { tier: 0, sandboxId: 'box-a' });
    expect(codeOf(sandbox(), { sender: sun, recipient: free, isBroadcast: true })).toBe('SANDBOX_VIOLATION');
  });

  it('allows everything when it is not enforced', () => {
    expect(codeOf(sandbox({ ...config, enforced: false }), { sender: inA, recipient: inB })).toBeUndefined();
  });
});
