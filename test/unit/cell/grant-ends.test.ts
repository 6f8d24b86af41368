import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { capability, defineAgent, type HandlingContext } from '../../../index.ts';
import { simulate } from '../../../simulate.ts';

const FACTS = { version: '1.0.0', description: 'One of a team' } as const;
const audit = capability({ id: 'audit', description: 'Audits', input: z.string(), output: z.string() });
const begin = capability({
  id: 'begin',
  description: 'Has the auditor work, by an ask or by a tell',
  input: z.enum(['ask', 'tell']),
  output: z.string(),
});
const remind = capability({ id: 'remind', description: 'Reminds', input: z.null(), output: z.null() });

type Say = (type: 'notification' | 'response') => void;

/**
 * Tier 1 may write to tier 2 only to answer it: what became of what the auditor sent, in its order, as answers to the one
 * envelope. `later`: what it says when it has something else in hand.
 */
async function sentBy(
  way: 'ask' | 'tell',
  { work, later = () => {} }: { work: (say: Say) => void; later?: (say: Say) => void },
) {
  const sent: string[] = [];
  const told: unknown[] = [];
  let asked = { sender: '', id: '' };
  const sayBy =
    (ctx: HandlingContext): Say =>
    (type) => {
      const { delivered, errorCode } = ctx.tell(asked.sender, type, { type, inReplyTo: asked.id });
      sent.push(delivered ? 'delivered' : String(errorCode));
    };
  const auditor = defineAgent({ id: 'auditor', name: 'AUDITOR', ...FACTS, tier: 1 })
    .handle(audit, (_input, ctx) => {
      asked = ctx.envelope;
      work(sayBy(ctx));
      return 'done';
    })
    .handle(remind, (_input, ctx) => {
      later(sayBy(ctx));
      return null;
    });
  const worker = defineAgent({ id: 'worker', name: 'WORKER', ...FACTS, tier: 2 })
    .on('notification', ({ payload }) => void told.push(payload))
    .on('response', ({ payload }) => void told.push(payload))
    .handle(begin, async (how, ctx) => {
      const target = { agent: 'auditor', capability: audit };
      const justification = 'an audit is due';
      if (how === 'ask') return ctx.ask(target, 'x', { justification });
      return String(ctx.tell(target, 'x', { type: 'request', justification }).delivered);
    });
  const { error } = await simulate({
    agents: [auditor, worker],
    run: async (system, { sleep }) => {
      await system.ask(begin, way);
      await sleep(100);
      await system.ask(remind, null);
      await sleep(100);
    },
  });
  if (error !== undefined) throw error;
  return { sent, told };
}

describe('What an agent may answer against the tiers, in a running system (C-06)', () => {
  it.each(['ask', 'tell'] as const)(
    'ends with a final reply while its handler still runs (%s)',
    async (way) => {
      const { sent, told } = await sentBy(way, {
        work: (say) => {
          say('notification');
          say('response');
          say('notification');
          say('response');
        },
        later: (say) => say('notification'),
      });
      expect(sent).toEqual(['delivered', 'delivered', ...Array.from({ length: 3 }, () => 'TIER_VIOLATION')]);
      expect(told).toEqual(['notification', 'response']);
    },
  );

  it('ends with what its handler answers an ask, whatever it has said before', async () => {
    const { sent } = await sentBy('ask', {
      work: (say) => say('notification'),
      later: (say) => say('notification'),
    });
    expect(sent).toEqual(['delivered', 'TIER_VIOLATION']);
  });

  it('stays for a request that was told, which it may answer later, once', async () => {
    const { sent } = await sentBy('tell', {
      work: () => {},
      later: (say) => {
        say('response');
        say('notification');
      },
    });
    expect(sent).toEqual(['delivered', 'TIER_VIOLATION']);
  });
});
