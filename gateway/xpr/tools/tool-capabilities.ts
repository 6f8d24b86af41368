import { z } from 'zod';
import { ACCOUNT_NAME } from '../chain/xpr-accounts.ts';
import { capability } from '../../../runtime/protocol/capability.ts';
import { A2ATask, XprAgentCard } from '../client/xpr-schemas.ts';

const Account = z
  .string()
  .regex(ACCOUNT_NAME, 'the name of an XPR account')
  .describe('XPR account of the agent');
const TaskId = z.string().min(1).describe('Id of the task at that agent');
const JobId = z.int().nonnegative().describe('Id of the job in escrow');

/** An agent's record on the chain, as models see it. */
const Registered = z.object({
  account: z.string(),
  owner: z.string(),
  name: z.string(),
  description: z.string(),
  endpoint: z.string(),
  protocol: z.string(),
  capabilities: z.array(z.string()),
  kyc_level: z.number(),
  trust_score: z.number(),
  registered_at: z.number().describe('Unix seconds'),
});

/** Looks an agent up by its account; answers with its record on the chain and its card. */
export const xprA2ADiscover = capability({
  id: 'xpr_a2a_discover',
  description: 'Looks an agent up on chain by its XPR account and fetches its agent card',
  input: z.object({ account: Account }),
  output: z.object({ agent: Registered, card: XprAgentCard }),
  readOnly: true,
});

/** Sends a text to an agent; answers with the task. */
export const xprA2ASendMessage = capability({
  id: 'xpr_a2a_send_message',
  description:
    'Sends a message to an XPR agent, which begins a task or goes on with one, and returns the task',
  input: z.object({
    account: Account,
    text: z.string().min(1).describe('What is said'),
    task_id: TaskId.optional(),
    context_id: z.string().min(1).optional(),
    job_id: JobId.optional(),
  }),
  output: A2ATask,
});

/** Fetches a task at an agent. */
export const xprA2AGetTask = capability({
  id: 'xpr_a2a_get_task',
  description: 'Says how a task at an XPR agent stands',
  input: z.object({ account: Account, task_id: TaskId }),
  output: A2ATask,
  readOnly: true,
});

/** Cancels a task at an agent; answers with the cancelled task. */
export const xprA2ACancelTask = capability({
  id: 'xpr_a2a_cancel_task',
  description: 'Cancels a task at an XPR agent',
  input: z.object({ account: Account, task_id: TaskId }),
  output: A2ATask,
});

/** The output of `xpr_a2a_delegate_job` while a person has to confirm it. */
export const NeedsConfirmation = z.object({
  needs_confirmation: z.literal(true),
  action: z.string(),
  details: z.object({ account: z.string(), job_id: z.number(), instructions: z.string() }),
  message: z.string(),
});
export type NeedsConfirmation = z.infer<typeof NeedsConfirmation>;

/** Sends a job in escrow to an agent; answers with the task, or with what a person has to confirm first. */
export const xprA2ADelegateJob = capability({
  id: 'xpr_a2a_delegate_job',
  description:
    'Sends what is known of a job in escrow, and instructions, to another XPR agent. Has to be confirmed by a person',
  input: z.object({
    account: Account,
    job_id: JobId,
    instructions: z.string().min(1).describe('What the other agent is to do'),
    confirmed: z.boolean().optional().describe('A person has confirmed exactly this'),
  }),
  output: z.union([A2ATask, NeedsConfirmation]),
});
