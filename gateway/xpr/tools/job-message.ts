import type { XprJob } from '../chain/xpr-accounts.ts';

/** What an agent is told of a job that it is to do: the job as it stands in escrow, and what is asked of it. */
export function jobMessage(job: XprJob, instructions: string): string {
  const { id, title, description, deliverables, amount, deadlineAtMs } = job;
  const deadline = deadlineAtMs === undefined ? 'none' : new Date(deadlineAtMs).toISOString();
  return [
    `# Job ${id}: ${title}`,
    '',
    `Description: ${description}`,
    `Deliverables: ${deliverables.length === 0 ? 'none are named' : deliverables.join('; ')}`,
    `Amount: ${amount} XPR`,
    `Deadline: ${deadline}`,
    '',
    '## Instructions',
    '',
    instructions,
  ].join('\n');
}
