import type { SwarmSession, SwarmSubTask } from './swarm-session.ts';

/** A sub-task as it was last seen. */
interface Seen {
  readonly epoch: number;
  /** The result as text, once it is completed. */
  readonly result: string | undefined;
}

/**
 * Watches over all swarms that every sub-task comes to exactly one result or, with a reason, to none; that epochs only grow,
 * one assignment stands at a time, and no two agents were given the same; and that nobody gets a sub-task again that it
 * failed or stalled over.
 */
export class SwarmCheck {
  readonly violations: string[] = [];
  readonly #pictures = new Map<string, { readonly session: SwarmSession; readonly coordinator: object }>();
  readonly #seen = new Map<string, Seen>();
  /** Whom the envelope of an assignment went to, by sub-task and epoch. */
  readonly #given = new Map<string, string>();

  /** A swarm as its coordinator has it now. */
  see(session: SwarmSession, coordinator: object): void {
    const former = this.#pictures.get(session.id);
    // What is shown does not change: only what is new is looked at.
    if (former?.session === session) return;
    this.#pictures.set(session.id, { session, coordinator });
    if (former !== undefined && former.coordinator !== coordinator) this.#forget(session);
    const isOver = session.status === 'completed' || session.status === 'failed';
    for (const subTask of session.subTasks) this.#look(session.id, subTask, isOver);
  }

  #look(swarmId: string, subTask: SwarmSubTask, isOver: boolean): void {
    const name = `"${subTask.id}" of ${swarmId}`;
    const key = keyOf(swarmId, subTask);
    const faults = [
      ...(isOver ? [whyNotOver(subTask)] : []),
      whyNotOne(subTask),
      whyNotInOrder(subTask),
      ...whoAgain(subTask),
      sinceThen(this.#seen.get(key), subTask),
      ...this.#twiceGiven(key, subTask),
    ];
    for (const fault of faults) if (fault !== undefined) this.#violated(`${name} ${fault}`);
    this.#seen.set(key, { epoch: subTask.epoch, result: resultOf(subTask) });
  }

  /**
   * What a coordinator before this one had not kept has led to nothing: what was sent with it was on its way to nobody. What
   * it had kept is in the picture of this one.
   */
  #forget({ id, subTasks }: SwarmSession): void {
    for (const subTask of subTasks) this.#seen.delete(keyOf(id, subTask));
    for (const assignment of this.#given.keys())
      if (assignment.startsWith(`${id}\n`)) this.#given.delete(assignment);
  }

  #twiceGiven(key: string, { assignments }: SwarmSubTask): string[] {
    return assignments.flatMap(({ epoch, agentId, envelopeId }) => {
      if (envelopeId === undefined) return [];
      const assignment = `${key}\n${epoch}`;
      const other = this.#given.get(assignment) ?? agentId;
      this.#given.set(assignment, agentId);
      return other === agentId ? [] : [`was given to ${other} and to ${agentId} in epoch ${epoch}`];
    });
  }

  #violated(sentence: string): void {
    if (!this.violations.includes(sentence)) this.violations.push(sentence);
  }
}

const keyOf = (swarmId: string, { id }: SwarmSubTask): string => `${swarmId}\n${id}`;

const resultOf = ({ status, result }: SwarmSubTask): string | undefined =>
  status === 'completed' ? (JSON.stringify(result) ?? 'nothing') : undefined;

function whyNotOver({ status, error }: SwarmSubTask): string | undefined {
  if (status === 'completed' || (status === 'failed' && error !== undefined)) return undefined;
  return `is ${status} and the swarm is over: it has neither a result nor a reason`;
}

/** Exactly one assignment completed a completed sub-task; exactly one assignment of a running one is open. */
function whyNotOne({ status, assignments }: SwarmSubTask): string | undefined {
  const completed = assignments.filter(({ end }) => end === 'completed').length;
  if (completed !== (status === 'completed' ? 1 : 0))
    return `is ${status}, and ${completed} agents completed it`;
  const open = assignments.filter(({ end }) => end === undefined).length;
  if (open !== (status === 'running' ? 1 : 0)) return `is ${status}, and ${open} agents have it`;
  return undefined;
}

function whyNotInOrder({ epoch, assignments }: SwarmSubTask): string | undefined {
  const isDense = assignments.every((one, at) => one.epoch === at + 1);
  return isDense && epoch === assignments.length
    ? undefined
    : `is in epoch ${epoch} after assignments ${assignments.map((one) => one.epoch).join(', ')}`;
}

const whoAgain = ({ assignments }: SwarmSubTask): string[] =>
  assignments
    .filter(({ agentId }, at) =>
      assignments
        .slice(0, at)
        .some((one) => one.agentId === agentId && (one.end === 'failed' || one.end === 'stalled')),
    )
    .map(({ agentId }) => `was given to ${agentId} again, which had failed it`);

function sinceThen(former: Seen | undefined, subTask: SwarmSubTask): string | undefined {
  if (former === undefined) return undefined;
  if (subTask.epoch < former.epoch) return `was in epoch ${former.epoch} and is in ${subTask.epoch}`;
  if (former.result !== undefined && resultOf(subTask) !== former.result) return 'has a second result';
  return undefined;
}
