import { describe, expect, it } from 'vitest';
import type { A2AEnvelope } from '../../../runtime/protocol/envelope.ts';
import {
  type ReceiveFinding,
  type ReceivePolicy,
  receive,
} from '../../../runtime/protocol/receive-policy.ts';

const envelope: A2AEnvelope = {
  id: 'e1',
  schemaVersion: 1,
  sender: 'mars',
  recipient: 'venus',
  type: 'request',
  timestamp: 1,
  payload: {},
};

const finds = (name: string, finding?: ReceiveFinding): ReceivePolicy => ({ name, receive: () => finding });
const warns = finds('warns', { action: 'warn', reason: 'odd' });

describe('receive', () => {
  it('accepts what no rule finds anything at', () => {
    expect(receive([finds('one'), finds('two')], { peer: 'p', envelope })).toEqual({
      isAccepted: true,
      findings: [],
    });
  });

  it('accepts what rules only warn of, and tells all warnings', () => {
    const { isAccepted, findings } = receive([warns, finds('two'), warns], { peer: 'p', envelope });
    expect(isAccepted).toBe(true);
    expect(findings.map(({ policy }) => policy)).toEqual(['warns', 'warns']);
  });

  it('asks nobody after the rule that drops', () => {
    const drops = finds('drops', { action: 'drop', reason: 'again' });
    const never: ReceivePolicy = {
      name: 'never',
      receive: () => {
        throw new Error('it was asked');
      },
    };
    const received = receive([warns, drops, never], { peer: 'p', envelope });
    expect(received.isAccepted).toBe(false);
    expect(received.findings.map(({ action }) => action)).toEqual(['warn', 'drop']);
  });

  it('refuses where a rule throws, and names it', () => {
    const throwing: ReceivePolicy = {
      name: 'broken',
      receive: () => {
        throw new Error('no state');
      },
    };
    const { isAccepted, findings } = receive([throwing], { peer: 'p', envelope });
    expect(isAccepted).toBe(false);
    expect(findings).toMatchObject([{ action: 'refuse', code: 'REFUSED', policy: 'broken' }]);
    expect(findings[0]?.reason).toContain('no state');
  });
});
