import { describe, expect, it } from 'vitest';
import { AgentCard } from '../../../runtime/protocol/agent-card.ts';
import { acpFromAgentCard, agentCardFromAcp } from '../../../runtime/protocol/acp-descriptor.ts';
import { cardOf, offers } from '../routing/standalone-team.ts';

const descriptor = {
  id: 'gates',
  name: 'Gates',
  version: '1.2.0',
  description: 'Quality gates',
  author: 'Orrery',
  icon: 'shield',
  website: 'https://example.org',
  capabilities: [
    {
      id: 'gates.tests',
      name: 'Tests',
      description: 'Runs the tests',
      agentSource: 'gates',
      inputSchema: { type: 'object' },
      outputSchema: {},
      tags: ['quality'],
      requiresConfirmation: true,
    },
  ],
};

describe('ACP descriptors (N-D01, C-33)', () => {
  it('become valid cards and come back as they were', () => {
    const card = agentCardFromAcp(descriptor, { tier: 2, nowMs: 7, sandboxId: 'box' });
    expect(AgentCard.parse(card)).toStrictEqual(card);
    expect(card).toMatchObject({
      id: 'gates',
      tier: 2,
      sandboxId: 'box',
      origin: 'local',
      revision: 0,
      lastSeenAt: 7,
    });
    expect(acpFromAgentCard(card)).toStrictEqual(descriptor);
  });

  it('are made of any card, what it leaves out being empty', () => {
    expect(acpFromAgentCard(cardOf('mars', offers('types.check')))).toMatchObject({
      id: 'mars',
      author: '',
      capabilities: [{ id: 'types.check', agentSource: 'mars', tags: [], requiresConfirmation: false }],
    });
  });

  it('are refused when a field is missing', () => {
    const { author: _author, ...incomplete } = descriptor;
    expect(() => agentCardFromAcp(incomplete, { tier: 2, nowMs: 7 })).toThrow(
      expect.objectContaining({
        code: 'INVALID_CARD',
        message: expect.stringContaining('author is missing, '),
      }),
    );
  });
});
