import { describe, expect, it } from 'vitest';
import * as seedNames from '../../../runtime/protocol/seed-names.ts';

describe('Seed names (C-30, N-D15, N-D02, N-D03)', () => {
  it('gives every data model of the seed a schema under its own name', () => {
    expect(Object.keys(seedNames).sort()).toEqual([
      'A2AEnvelopeSchema',
      'A2ALogEventSchema',
      'A2AMessageTypeSchema',
      'AgentCardSchema',
      'AgentEndpointSchema',
      'AgentTierSchema',
      'CRDTSyncMessageSchema',
      'CapabilityDescriptorSchema',
      'RoutingResultSchema',
      'TaskProposalPayloadSchema',
    ]);
  });

  it('accepts the examples of the seed and refuses their opposites', () => {
    const { AgentEndpointSchema, AgentTierSchema, CRDTSyncMessageSchema, TaskProposalPayloadSchema } =
      seedNames;
    expect(AgentTierSchema.safeParse(4).success).toBe(false);
    expect(AgentEndpointSchema.safeParse({ transport: 'libp2p', address: '/ip4/127.0.0.1' }).success).toBe(
      true,
    );
    expect(AgentEndpointSchema.safeParse({ transport: 'carrier-pigeon' }).success).toBe(false);
    const update = { sourceAgentId: 'mars', vectorClock: { mars: 1 }, payload: 'AA==', timestamp: 1 };
    expect(CRDTSyncMessageSchema.parse(update)).toStrictEqual(update);
    expect(CRDTSyncMessageSchema.safeParse({ ...update, vectorClock: { mars: 'one' } }).success).toBe(false);
    const proposal = {
      taskDescription: '',
      requiredCapabilities: [],
      estimatedComplexity: 'simple',
      deadlineMs: 1,
    };
    expect(TaskProposalPayloadSchema.parse(proposal)).toStrictEqual(proposal);
    expect(TaskProposalPayloadSchema.safeParse({ ...proposal, deadlineMs: 0 }).success).toBe(false);
  });
});
