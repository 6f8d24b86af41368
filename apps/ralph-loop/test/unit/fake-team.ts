import { type AskOptions, OrreryError, type RosterRow, type Target } from 'orrery';
import type { Finding } from '../../audit/finding.ts';
import type { Team } from '../../loop/team.ts';

type Input = Record<string, unknown>;
type Answer = (input: Input, options: AskOptions) => unknown;

/** One ask that the team got, in the order of asking. */
export interface Asked {
  readonly agent: string;
  readonly capability: string;
  readonly input: Input;
  readonly options: AskOptions;
}

/** A team in memory: the same `ask` and `roster` as a running system, answered by functions. */
export class FakeTeam implements Team {
  readonly asked: Asked[] = [];
  readonly rows: RosterRow[] = [];
  readonly #answers = new Map<string, Answer>();

  constructor() {
    this.agent('sun', { 'mission.assign': assignToFirst });
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
  tier: 2,
  capabilities,
  place: 'worker-1',
  status: 'running',
  waiting: 0,
  restarts: 0,
});

/** Gives each task to the first who offers what it needs. */
function assignToFirst({ tasks, roster }: Input): unknown {
  const rows = roster as readonly RosterRow[];
  const given = (tasks as readonly { id: string; capability: string }[]).map(({ id, capability }) => ({
    taskId: id,
    agent: rows.find((row) => row.capabilities.includes(capability))?.id,
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
