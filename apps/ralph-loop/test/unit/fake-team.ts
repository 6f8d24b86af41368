import { type AskOptions, OrreryError, type RosterRow, type Target, type TaskProposal } from 'orrery';
import type { Finding } from '../../findings/finding.ts';
import type { Team } from '../../loop/team.ts';
import { FakeSwarms } from './fake-swarms.ts';

type LoopNegotiator = Team['loop']['negotiator'];
type Input = Record<string, unknown>;
type Answer = (input: Input, options: AskOptions) => unknown;

/** One ask that the team got, in the order of asking. */
export interface Asked {
  readonly agent: string;
  readonly capability: string;
  readonly input: Input;
  readonly options: AskOptions;
}

/** A team in memory: the same as of a running system, answered by functions. Whoever is proposed a task accepts. */
export class FakeTeam implements Team {
  readonly asked: Asked[] = [];
  /** Agent and correlation id of each proposal. */
  readonly proposed: string[] = [];
  readonly released: string[] = [];
  /** What is known of proposals by their ids, if anything is. */
  readonly records = new Map<string, ReturnType<LoopNegotiator['getRecord']>>();
  /** What an agent says to a proposal instead of accepting. */
  readonly refusals = new Map<string, () => Partial<TaskProposal> | undefined>();
  readonly negotiator: { -readonly [Method in keyof LoopNegotiator]: LoopNegotiator[Method] } = {
    propose: async (proposal, { to, correlationId = '' } = {}) => {
      const agent = String(to);
      const proposalId = `p${this.proposed.push(`${agent} ${correlationId}`)}`;
      await Promise.resolve();
      return {
        ...proposal,
        proposalId,
        proposerAgentId: 'system/loop',
        correlationId,
        isHeld: true,
        proposedAtMs: 0,
        ...(this.refusals.get(agent)?.() ?? { status: 'accepted', acceptedBy: agent }),
      } as TaskProposal;
    },
    getRecord: (proposalId) => this.records.get(proposalId),
    release: async (proposalId) => {
      this.released.push(proposalId);
    },
  };
  readonly rows: RosterRow[] = [];
  readonly loop = this;
  readonly swarms = new FakeSwarms(this);
  readonly #answers = new Map<string, Answer>();

  constructor() {
    this.agent('sun', {
      'mission.assign': assignToFirst,
      'mission.recover': ({ why }) => ({ decision: 'human', reason: String(why) }),
    });
    this.agent('mercury', { 'findings.verify': approveAll });
  }

  /** Adds an agent, or gives one other answers. */
  agent(id: string, answers: Record<string, Answer>): this {
    for (const [capability, answer] of Object.entries(answers))
      this.#answers.set(`${id} ${capability}`, answer);
    if (!this.rows.some((row) => row.id === id)) this.rows.push(rowOf(id, Object.keys(answers)));
    return this;
  }

  async ask<In, Out>(target: Target<In, Out>, input: In, options: AskOptions = {}): Promise<Out> {
    const capability = 'agent' in target ? target.capability : target;
    const agent =
      'agent' in target
        ? target.agent
        : (this.rows.find((row) => row.capabilities.includes(capability.id))?.id ?? '');
    this.asked.push({ agent, capability: capability.id, input: input as Input, options });
    await Promise.resolve();
    const answer = this.#answers.get(`${agent} ${capability.id}`);
    if (answer === undefined) throw new OrreryError('CAPABILITY_NOT_FOUND', capability.id);
    const { promise: stopped, reject } = Promise.withResolvers<never>();
    options.signal?.addEventListener('abort', () => reject(new OrreryError('CANCELLED', capability.id)), {
      once: true,
    });
    return (await Promise.race([(async () => answer(input as Input, options))(), stopped])) as Out;
  }

  async roster(): Promise<readonly RosterRow[]> {
    return this.rows;
  }

  /** The asks that were work, not assignments or judgements. */
  get work(): readonly Asked[] {
    return this.asked.filter(({ agent }) => agent !== 'sun' && agent !== 'mercury');
  }
}

export const finding = (over: Partial<Finding> = {}): Finding => ({
  id: 'f1',
  rule: 'planted',
  severity: 'high',
  file: 'a.ts',
  line: 3,
  message: 'wrong',
  evidence: 'a();',
  lineSha256: '0'.repeat(64),
  agent: 'mars',
  ...over,
});

const rowOf = (id: string, capabilities: readonly string[]): RosterRow => ({
  id,
  name: id.toUpperCase(),
  version: '1.0.0',
  tier: 2,
  capabilities,
  place: 'worker-1',
  status: 'running',
  waiting: 0,
  restarts: 0,
  capacity: 1_000,
  supervision: { strategy: 'one-for-one', restarts: 0, maxRestarts: 3, withinMs: 60_000 },
});

/** Gives each task to the first who offers what it needs. */
function assignToFirst({ tasks, roster }: Input): unknown {
  const rows = roster as readonly RosterRow[];
  const open = tasks as readonly { id: string; capability: string; declined?: readonly string[] }[];
  const given = open.map(({ id, capability, declined = [] }) => ({
    taskId: id,
    agent: rows.find((row) => row.capabilities.includes(capability) && !declined.includes(row.id))?.id,
  }));
  return {
    assignments: given.filter(({ agent }) => agent !== undefined),
    unassignable: given
      .filter(({ agent }) => agent === undefined)
      .map(({ taskId }) => ({ taskId, reason: 'nobody' })),
  };
}

const approveAll = ({ findings }: Input): unknown => ({
  verdict: 'APPROVED',
  approved: findings,
  rejected: [],
  feedback: '',
});
