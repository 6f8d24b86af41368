import { capability, OrreryError } from 'orrery';
import type { SwarmSession } from 'orrery/swarm';
import { z } from 'zod';
import type { Team } from '../../loop/team.ts';
import type { FakeTeam } from './fake-team.ts';

type SubTask = SwarmSession['subTasks'][number];

type LoopSwarms = Team['loop']['swarms'];

/** Swarms in memory: each sub-task is asked of the first agent that offers it, and of the next one when that fails. */
export class FakeSwarms implements Pick<LoopSwarms, keyof LoopSwarms> {
  /** Description and capabilities of each swarm. */
  readonly formed: string[] = [];
  /** Why none can be formed, if so. */
  fault: Error | undefined = undefined;
  readonly #team: FakeTeam;
  readonly #sessions = new Map<string, SwarmSession>();
  readonly #listeners = new Set<(session: SwarmSession) => void>();

  constructor(team: FakeTeam) {
    this.#team = team;
  }

  createSwarm: LoopSwarms['createSwarm'] = async (taskDescription, capabilities, options = {}) => {
    await Promise.resolve();
    if (this.fault !== undefined) throw this.fault;
    const id = `swarm-${this.formed.push(`${taskDescription}: ${capabilities.join(', ')}`)}`;
    const plan = Array.isArray(options.plan) ? options.plan : [];
    const subTasks = plan.map(
      ({ id: part, requiredCapabilities, input }): SubTask => ({
        id: part,
        description: '',
        assignedAgent: '',
        requiredCapabilities,
        status: 'pending',
        capability: requiredCapabilities[0],
        input,
        dependsOn: [],
        inputFrom: {},
        epoch: 0,
        assignments: [],
        lates: [],
      }),
    );
    const { correlationId = id, signal } = options;
    const session: SwarmSession = {
      id,
      taskDescription,
      participants: [],
      subTasks,
      status: 'active',
      sharedState: options.sharedState ?? {},
      createdAt: 0,
      ownerId: 'system/loop',
      correlationId,
      stateVersion: 0,
    };
    this.#sessions.set(id, session);
    for (const { id: part } of subTasks) void this.#work(id, part, signal);
    return session;
  };

  /** Ids of those that were cancelled. */
  readonly cancelled: string[] = [];

  cancelSwarm = async (id: string): Promise<void> => {
    this.cancelled.push(id);
  };

  listSwarms = (): SwarmSession[] => [...this.#sessions.values()];

  listActiveSwarms = (): SwarmSession[] => this.listSwarms().filter(({ status }) => status === 'active');

  getSwarm = (id: string): SwarmSession | undefined => this.#sessions.get(id);

  onChange = (listener: (session: SwarmSession) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  async #work(swarmId: string, part: string, signal: AbortSignal | undefined): Promise<void> {
    const { correlationId } = this.#sessions.get(swarmId) as SwarmSession;
    const { capability: id, input } = this.#partOf(swarmId, part);
    let fault = { code: 'CAPABILITY_NOT_FOUND', message: 'nobody' } as SubTask['error'];
    for (const row of this.#team.rows.filter(({ capabilities }) => capabilities.includes(id))) {
      const { assignments, epoch } = this.#partOf(swarmId, part);
      const assignment = {
        epoch: epoch + 1,
        agentId: row.id,
        startedAtMs: 0,
        envelopeId: `e-${part}-${epoch + 1}`,
      };
      this.#change(swarmId, part, {
        status: 'running',
        assignedAgent: row.id,
        epoch: epoch + 1,
        assignments: [...assignments, assignment],
      });
      try {
        const wanted = capability({ id, description: id, input: z.unknown(), output: z.unknown() });
        const result = await this.#team.ask({ agent: row.id, capability: wanted }, input, {
          correlationId,
          ...(signal === undefined ? {} : { signal }),
        });
        this.#change(swarmId, part, {
          status: 'completed',
          result,
          assignments: [...assignments, { ...assignment, end: 'completed' }],
        });
        return;
      } catch (error) {
        fault = { code: error instanceof OrreryError ? error.code : 'ACTOR_DIED', message: String(error) };
        this.#change(swarmId, part, {
          assignments: [...assignments, { ...assignment, end: 'failed', error: fault }],
        });
      }
    }
    this.#change(swarmId, part, { status: 'failed', error: fault });
  }

  #partOf(swarmId: string, part: string): SubTask {
    return this.#sessions.get(swarmId)?.subTasks.find(({ id }) => id === part) as SubTask;
  }

  #change(swarmId: string, part: string, changes: Partial<SubTask>): void {
    const session = this.#sessions.get(swarmId) as SwarmSession;
    const subTasks = session.subTasks.map((one) => (one.id === part ? { ...one, ...changes } : one));
    this.#sessions.set(swarmId, { ...session, subTasks });
    for (const listener of [...this.#listeners]) listener({ ...session, subTasks });
  }
}
