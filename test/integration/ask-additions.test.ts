import { startSystem } from 'orrery';
import { describe, expect, it } from 'vitest';
import { show } from '../fixtures/agents/additions.ts';
import { agent, rejection } from '../fixtures/until.ts';

describe('What goes with an ask', () => {
  it.each(['inline', 'thread'] as const)(
    'arrives %s: metadata, where to go on, and its id is known',
    async (isolation) => {
      await using system = await startSystem({ agents: [agent('additions', { isolation })] });
      const sent: string[] = [];
      const full = await system.ask(show, undefined, {
        metadata: { mine: { deep: [1] } },
        resumeFrom: { done: 3 },
        onSent: (envelopeId) => sent.push(envelopeId),
      });
      expect(full).toEqual({ envelopeId: sent[0], mine: { deep: [1] }, resumeFrom: { done: 3 } });
      expect(sent).toHaveLength(1);
      expect(await system.ask(show, undefined)).toEqual({ envelopeId: expect.any(String) });

      const wrong = async (options: object) =>
        (await rejection(system.ask(show, undefined, options))).message;
      expect(await wrong({ metadata: { inReplyTo: 'x' } })).toContain('metadata.inReplyTo is "x"');
      expect(await wrong({ metadata: 5 })).toContain('metadata is 5');
      expect(await wrong({ onSent: 5 })).toContain('onSent is 5');
      expect(sent).toHaveLength(1);
    },
  );
});
