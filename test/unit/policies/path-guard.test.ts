import { describe, expect, it } from 'vitest';
import { pathGuard } from '../../../policies/path-guard.ts';
import { A2A_MESSAGE_TYPES } from '../../../runtime/protocol/envelope.ts';
import { codeOf } from './judge-request.ts';

describe('path-guard (F-05)', () => {
  const hop = (agent: string, capability: string) => ({
    agent,
    capability,
    envelopeId: `${agent}-${capability}`,
  });
  const path = [hop('recipient', 'types.check'), hop('sender', 'schema.design')];

  it('refuses work that the recipient already does further up', () => {
    expect(codeOf(pathGuard(), { path, capability: 'types.check' })).toBe('PATH_LOOP');
    expect(codeOf(pathGuard(), { path, capability: 'types.check', type: 'task-proposal' })).toBe('PATH_LOOP');
  });

  it('lets a call-back for something else through', () => {
    expect(codeOf(pathGuard(), { path, capability: 'schema.design' })).toBeUndefined();
    expect(codeOf(pathGuard(), { path })).toBeUndefined();
  });

  it('takes unnamed requests for no loop', () => {
    expect(codeOf(pathGuard(), { path: [hop('recipient', '')], capability: '' })).toBeUndefined();
  });

  it('refuses the seventeenth request on a path', () => {
    const hops = (count: number) => Array.from({ length: count }, (_, index) => hop(`agent-${index}`, 'x'));
    expect(codeOf(pathGuard(), { path: hops(15), capability: 'y' })).toBeUndefined();
    expect(codeOf(pathGuard(), { path: hops(16), capability: 'y' })).toBe('HOP_LIMIT');
    expect(codeOf(pathGuard(2), { path: hops(2) })).toBe('HOP_LIMIT');
  });

  it('minds requests, proposals and streams alone', () => {
    for (const type of A2A_MESSAGE_TYPES) {
      const isWork = ['request', 'task-proposal', 'stream-start'].includes(type);
      expect(codeOf(pathGuard(), { path, capability: 'types.check', type })).toBe(
        isWork ? 'PATH_LOOP' : undefined,
      );
    }
  });
});
