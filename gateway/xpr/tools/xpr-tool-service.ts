import { trustScore } from '../chain/trust.ts';
import type { XprAccounts, XprAgent, XprJob, XprJobs } from '../chain/xpr-accounts.ts';
import type { ApprovalRequest } from '../../../runtime/protocol/approval.ts';
import {
  invalidOptions,
  isOrreryError,
  type OrreryError,
  reasonOf,
  refused,
} from '../../../runtime/protocol/errors.ts';
import { parseOptions, requireFunction } from '../../../runtime/protocol/parse-options.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import { systemSeams } from '../../../runtime/protocol/system-seams.ts';
import { A2AClient, type A2AClientOptions } from '../client/a2a-client.ts';
import type { A2AError } from '../client/a2a-error.ts';
import type { A2ATask, XprAgentCard } from '../client/xpr-schemas.ts';
import {
  checkedAddresses,
  type CheckedUrlRules,
  ForeignUrlRules,
  parseForeignUrl,
} from '../../reach/foreign-url.ts';
import type { NeedsConfirmation } from './tool-capabilities.ts';

/**
 * Options of the XPR tools.
 *
 * - `chain`     looks agents and jobs up: `chainRpc(...)`.
 * - `signing`   account and private key that requests are signed with. @default they are unsigned
 * - `confirm`   whether a person must confirm that a job is delegated. @default true
 * - `endpoints` rules for endpoints that may be called.
 * - `client`    further options of the calls.
 * - `clock`     @default the system's
 */
export interface XprToolOptions {
  readonly chain: Pick<XprAccounts, 'agent'> & XprJobs;
  readonly signing?: { readonly account: string; readonly key: string };
  readonly confirm?: boolean;
  readonly endpoints?: ForeignUrlRules;
  readonly client?: Pick<A2AClientOptions, 'timeout' | 'maxBytes' | 'fetch' | 'newId'>;
  readonly clock?: Pick<Clock, 'now' | 'setTimer'>;
}

/** `signal` ends the call. */
export interface ToolCall {
  readonly signal?: AbortSignal;
}

/**
 * Asks a person; resolves to true if they approve, and to false if there is nobody to ask. Rejects if they do not approve.
 */
export type AskPerson = (request: ApprovalRequest) => Promise<boolean>;

interface OfTask {
  readonly account: string;
  readonly task_id: string;
}

/**
 * The five agent tools of XPR (seed 2, "OpenClaw Tools"). Each finds the other agent's endpoint on the chain.
 *
 * They reject with REFUSED if the account is unknown or inactive, or has no endpoint that may be called. They also reject
 * with REFUSED if the other agent refuses; its `code` and `data` are in the details.
 */
export class XprToolService {
  readonly #options: XprToolOptions;
  readonly #endpoints: CheckedUrlRules;
  readonly #clock: Pick<Clock, 'now' | 'setTimer'>;

  constructor(options: XprToolOptions) {
    requireFunction('chain.agent', (options.chain as Partial<XprToolOptions['chain']> | undefined)?.agent);
    requireFunction('chain.job', options.chain.job);
    if (options.confirm !== undefined && typeof options.confirm !== 'boolean')
      throw invalidOptions('confirm', options.confirm, 'true or false');
    this.#options = options;
    this.#endpoints = parseOptions(ForeignUrlRules, options.endpoints ?? {}, 'endpoints');
    this.#clock = options.clock ?? systemSeams().clock;
    // Wrong options throw here, before a tool is used.
    this.#clientOf('https://agent.invalid');
  }

  async discover({ account }: { readonly account: string }, call: ToolCall = {}): Promise<Discovered> {
    const agent = await this.#registered(account);
    const card = await answered(account, this.#clientOf(agent.endpoint).getAgentCard(signalOf(call)));
    const { owner, name, description, endpoint, protocol, capabilities, kycLevel, registeredAtMs } = agent;
    return {
      agent: {
        account,
        owner,
        name,
        description,
        endpoint,
        protocol,
        capabilities: [...capabilities],
        kyc_level: kycLevel,
        trust_score: trustScore(agent, this.#clock.now()),
        registered_at: Math.floor(registeredAtMs / 1_000),
      },
      card,
    };
  }

  async sendMessage({ account, text, ...of }: ToolMessage, call: ToolCall = {}): Promise<A2ATask> {
    const client = this.#clientOf((await this.#registered(account)).endpoint);
    const options = {
      ...(of.task_id === undefined ? {} : { taskId: of.task_id }),
      ...(of.context_id === undefined ? {} : { contextId: of.context_id }),
      ...(of.job_id === undefined ? {} : { jobId: of.job_id }),
      ...signalOf(call),
    };
    const message = { role: 'user' as const, parts: [{ type: 'text' as const, text }] };
    return answered(account, client.sendMessage(message, options));
  }

  async getTask({ account, task_id }: OfTask, call: ToolCall = {}): Promise<A2ATask> {
    const client = this.#clientOf((await this.#registered(account)).endpoint);
    return answered(account, client.getTask(task_id, signalOf(call)));
  }

  async cancelTask({ account, task_id }: OfTask, call: ToolCall = {}): Promise<A2ATask> {
    const client = this.#clientOf((await this.#registered(account)).endpoint);
    return answered(account, client.cancelTask(task_id, signalOf(call)));
  }

  /**
   * Checks whether a job may be delegated; undefined if it may, else the request for confirmation. If a person can be asked,
   * their answer decides; else `confirmed` does.
   */
  async gate(
    { account, job_id, instructions, confirmed = false }: Delegation,
    askPerson: AskPerson,
  ): Promise<NeedsConfirmation | undefined> {
    if (this.#options.confirm === false) return undefined;
    const details = { account, job_id, instructions };
    const message = `Send job ${job_id} and these instructions to the agent "${account}"`;
    const request = { action: 'xpr_a2a_delegate_job', details, message };
    if ((await askPerson(request)) || confirmed) return undefined;
    return { needs_confirmation: true, ...request };
  }

  /** Sends the job and the instructions to the agent. */
  async delegateJob({ account, job_id, instructions }: Delegation, call: ToolCall = {}): Promise<A2ATask> {
    const job = await answered('the chain', this.#options.chain.job(job_id));
    if (job === undefined) throw refused(`There is no job ${job_id} in escrow`, { jobId: job_id });
    return this.sendMessage({ account, text: jobMessage(job, instructions), job_id }, call);
  }

  /** Looks an agent up. Rejects unless it is active and its endpoint may be called. */
  async #registered(account: string): Promise<XprAgent> {
    const agent = await answered('the chain', this.#options.chain.agent(account));
    if (agent === undefined) throw refused(`No agent is registered as "${account}"`, { account });
    if (!agent.isActive) throw refused(`The agent "${account}" is not active`, { account });
    if (agent.endpoint === '') throw refused(`The agent "${account}" has no endpoint`, { account });
    await requireForeign(account, agent.endpoint, this.#endpoints);
    return agent;
  }

  #clientOf(endpoint: string): A2AClient {
    const { signing, client } = this.#options;
    const { allowHttp } = this.#endpoints;
    const proof = signing === undefined ? {} : { callerAccount: signing.account, signingKey: signing.key };
    return new A2AClient(endpoint, { allowHttp, ...client, ...proof, clock: this.#clock });
  }
}

interface Discovered {
  readonly agent: {
    account: string;
    owner: string;
    name: string;
    description: string;
    endpoint: string;
    protocol: string;
    capabilities: string[];
    kyc_level: number;
    trust_score: number;
    registered_at: number;
  };
  readonly card: XprAgentCard;
}

interface ToolMessage {
  readonly account: string;
  readonly text: string;
  readonly task_id?: string | undefined;
  readonly context_id?: string | undefined;
  readonly job_id?: number | undefined;
}

interface Delegation {
  readonly account: string;
  readonly job_id: number;
  readonly instructions: string;
  readonly confirmed?: boolean | undefined;
}

const signalOf = ({ signal }: ToolCall): { readonly signal?: AbortSignal } =>
  signal === undefined ? {} : { signal };

/** Converts a failure elsewhere to REFUSED, which fails the call but not the agent. */
async function answered<Answer>(who: string, answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    throw declined(who, error);
  }
}

function declined(who: string, error: unknown): OrreryError {
  const { code, data } = error as Partial<A2AError>;
  return refused(`${who}: ${reasonOf(error)}`, { code, ...(data === undefined ? {} : { data }) });
}

/**
 * Rejects with REFUSED, naming account and endpoint, unless the endpoint may be called: anybody can write any URL on the
 * chain. A name that is pointed elsewhere after this check fails TLS, because it has no certificate.
 */
async function requireForeign(account: string, endpoint: string, rules: CheckedUrlRules): Promise<void> {
  const refuse = (url: string, expected: string) =>
    refused(`The endpoint of "${account}" is not called: it is "${url}", expected ${expected}`, { account });
  const target = parseForeignUrl(endpoint, rules, refuse);
  await checkedAddresses(target, rules, refuse).catch((error: unknown) => {
    if (isOrreryError(error)) throw error;
    throw refuse(target.href, 'a name that has addresses');
  });
}

/** The message about a delegated job, in Markdown: the job in escrow, and the instructions. */
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
