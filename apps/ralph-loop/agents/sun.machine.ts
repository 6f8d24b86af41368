import type { HandlingContext } from 'orrery';
import { setup } from 'xstate';
import type { z } from 'zod';
import { assignTasks } from './assign.ts';
import type { Dispute, missionAssign, RecoveryRequest } from './capabilities.ts';
import { recoverTask } from './recover.ts';
import { ruleDispute } from './rule-dispute.ts';

interface Asked {
  readonly ctx: Pick<HandlingContext, 'reply'>;
}

/** What SUN is asked, by capability. */
export type SunEvent =
  | (Asked & { readonly type: 'mission.assign'; readonly input: z.output<typeof missionAssign.input> })
  | (Asked & { readonly type: 'mission.recover'; readonly input: RecoveryRequest })
  | (Asked & { readonly type: 'mission.rule'; readonly input: Dispute });

/** SUN's work: it gives tasks out, says what is to become of one that nobody could do, and settles disputes, each at once. */
export const sunMachine = setup({
  types: { events: {} as SunEvent },
  actions: {
    assign: (_, { ctx, input }: Extract<SunEvent, { type: 'mission.assign' }>) =>
      ctx.reply(assignTasks(input.tasks, input.roster)),
    recover: (_, { ctx, input }: Extract<SunEvent, { type: 'mission.recover' }>) =>
      ctx.reply(recoverTask(input)),
    rule: (_, { ctx, input }: Extract<SunEvent, { type: 'mission.rule' }>) => ctx.reply(ruleDispute(input)),
  },
}).createMachine({
  id: 'sun',
  initial: 'ready',
  states: {
    ready: {
      tags: 'ready',
      on: {
        'mission.assign': { actions: { type: 'assign', params: ({ event }) => event } },
        'mission.recover': { actions: { type: 'recover', params: ({ event }) => event } },
        'mission.rule': { actions: { type: 'rule', params: ({ event }) => event } },
      },
    },
  },
});
