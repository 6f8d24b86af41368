import type { HandlingContext } from 'orrery';
import { assertEvent, setup } from 'xstate';
import type { z } from 'zod';
import { assignTasks } from './assign.ts';
import type { Dispute, missionAssign, RecoveryRequest } from './capabilities.ts';
import { recoverTask } from './recover.ts';
import { ruleDispute } from './rule-dispute.ts';

interface Asked {
  readonly ctx: Pick<HandlingContext, 'reply'>;
}

/** The requests to SUN, by capability. */
export type SunEvent =
  | (Asked & { readonly type: 'mission.assign'; readonly input: z.output<typeof missionAssign.input> })
  | (Asked & { readonly type: 'mission.recover'; readonly input: RecoveryRequest })
  | (Asked & { readonly type: 'mission.rule'; readonly input: Dispute });

/**
 * The machine of SUN. It answers each request at once: it assigns tasks, decides about tasks without an agent, and settles
 * disputes. It decides by the request alone; the loop holds the state of the mission.
 */
export const sunMachine = setup({
  types: { events: {} as SunEvent },
  actions: {
    assign: ({ event }) => {
      assertEvent(event, 'mission.assign');
      event.ctx.reply(assignTasks(event.input.tasks, event.input.roster));
    },
    recover: ({ event }) => {
      assertEvent(event, 'mission.recover');
      event.ctx.reply(recoverTask(event.input));
    },
    rule: ({ event }) => {
      assertEvent(event, 'mission.rule');
      event.ctx.reply(ruleDispute(event.input));
    },
  },
}).createMachine({
  id: 'sun',
  initial: 'waiting',
  states: {
    waiting: {
      tags: 'ready',
      on: { 'mission.assign': 'assigning', 'mission.recover': 'recovering', 'mission.rule': 'ruling' },
    },
    assigning: { entry: 'assign', always: 'waiting' },
    recovering: { entry: 'recover', always: 'waiting' },
    ruling: { entry: 'rule', always: 'waiting' },
  },
});
