import { describe, expect, it } from 'vitest';
import { acpAgent, type AcpAgentOptions } from '../../../../actors/coding/index.ts';

const options: AcpAgentOptions = { id: 'coder', command: ['gemini', '--experimental-acp'] };

describe('The options of an agent that speaks the Agent Client Protocol', () => {
  it('name its program, and nothing else has to be said', () => {
    const agent = acpAgent(options);
    expect(agent.options).toMatchObject({
      id: 'coder',
      name: 'coder',
      tier: 3,
      description: 'A coding agent: gemini',
      handlingTimeoutMs: 3_600_000,
      onThrow: 'keep',
    });
    expect([...agent.handlers.keys()]).toEqual(['code.change', 'code.review']);
  });

  it('give it the time that an attempt may take, and more to stop than its program has', () => {
    const agent = acpAgent({ ...options, limits: { timeoutMs: 5_000 }, graceMs: 1_000 });
    expect(agent.options).toMatchObject({ handlingTimeoutMs: 5_000 });
    expect(agent.options.stopTimeoutMs).toBeGreaterThan(2_000);
    expect(agent.cutOffGraceMs).toBe(agent.options.stopTimeoutMs);
  });

  it.each([
    [{ command: [] }, 'acpAgent.command[0]'],
    [{ command: [''] }, 'acpAgent.command[0]'],
    [{ command: 'gemini' }, 'acpAgent.command'],
    [{ env: ['A=B'] }, 'acpAgent.env[0]'],
    [{ permission: 'everything' }, 'acpAgent.permission'],
    [{ tells: ['turns'] }, 'acpAgent.tells[0]'],
    [{ limits: { maxTurns: 0 } }, 'acpAgent.limits.maxTurns'],
    [{ inactivityMs: -1 }, 'acpAgent.inactivityMs'],
    [{ answerPermission: () => true }, 'agent.answerPermission'],
  ])('are refused with field and value: %j', (wrong, field) => {
    const make = () => acpAgent({ ...options, ...wrong } as unknown as AcpAgentOptions);
    expect(make).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }));
    expect(make).toThrow(field);
  });
});
