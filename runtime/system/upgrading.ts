import { z } from 'zod';
import { AgentDefinition } from '../agent/agent-definition.ts';
import { type ErrorData, errorWithStack, invalidOptions } from '../protocol/errors.ts';
import { parseOptions, requireText } from '../protocol/parse-options.ts';
import type { Remote } from '../link/connection.ts';
import type { ControlCalls } from '../control/control-calls.ts';
import type { Upgraded } from '../control/upgrades.ts';
import type { GivenAgents } from './given-agents.ts';
import type { RosterRow } from '../protocol/roster.ts';

const DEFAULT_GRACE_MS = 5_000;
const MAX_GRACE_MS = 60_000;

const Code = z.union(
  [z.instanceof(URL), z.custom<AgentDefinition<unknown>>((code) => code instanceof AgentDefinition)],
  'the URL of a module, or an agent made by defineAgent',
);

/**
 * - `module`  the code from now on: the URL of a file that exports the agent, or a live agent where the agent runs in the
 *             embedder's thread. @default the code that it has: a restart that keeps the state
 * - `fresh`   its state is not handed on. @default false
 * - `graceMs` how long what it has in hand may take; then that is cut off as by a restart. @default 5_000
 */
export const UpgradeOptions = z.strictObject({
  module: Code.optional(),
  fresh: z.boolean().default(false),
  graceMs: z.number().nonnegative().max(MAX_GRACE_MS).default(DEFAULT_GRACE_MS),
});
export type UpgradeOptions = z.input<typeof UpgradeOptions>;

/** Code that can go on with the state of a parked agent, or `fresh: true` to let go of the state; or both. */
const ResumeOptions = UpgradeOptions.pick({ module: true, fresh: true }).refine(
  ({ module, fresh }) => module !== undefined || fresh,
  'a module that can go on with its state, or fresh: true',
);
export type ResumeOptions = z.input<typeof ResumeOptions>;

/** Whose code is to be changed, and to what. */
export interface AgentUpgrade extends UpgradeOptions {
  readonly agentId: string;
}

/**
 * What became of one of several agents. `parked` and `refused` have an error; a `refused` one has the code that it had.
 * `skipped`: one before it was not upgraded. `status` of an upgraded one that does not run: its next start is with the new
 * code.
 */
export interface UpgradeResult {
  readonly agentId: string;
  readonly outcome: 'upgraded' | 'parked' | 'refused' | 'skipped';
  readonly error?: ErrorData;
  readonly status?: RosterRow['status'];
}

/** What an embedder has to change the code of agents while they run. */
export interface Upgrading {
  /**
   * Has an agent run other code, under load: what it has in hand is finished, its mail waits, its state is handed on, through
   * the new code's migrations where that keeps another kind of state. Resolves when the new code runs, with the status
   * `running`; of an agent that is not running, with the status that it has, when its next start will be with it: one that
   * `failed` is not started by that, `restart` does.
   *
   * Fails with SNAPSHOT_UNKNOWN when the new code cannot go on with the state: then the agent is parked. Fails with
   * MODULE_INVALID, NOT_SERIALISABLE (its state), THREAD_DIED, REFUSED (it is being upgraded already, or is parked, or its
   * state cannot be handed on now), AGENT_NOT_FOUND, INVALID_OPTIONS; then it runs the code that it had.
   */
  upgrade(agentId: string, options?: UpgradeOptions): Promise<Upgraded>;
  /** Upgrades one agent after the other, and stops at the first that is not upgraded. */
  upgradeAll(upgrades: readonly AgentUpgrade[]): Promise<readonly UpgradeResult[]>;
  /** Restarts agents, one after the other, with the code and the state that they have. @default all that run */
  rollingRestart(agentIds?: readonly string[]): Promise<readonly UpgradeResult[]>;
  /**
   * Has a parked agent go on: with its state in a module that knows it, or without it. Fails as `upgrade` does, and the agent
   * stays parked. Throws INVALID_OPTIONS for an agent that is not parked.
   */
  resume(agentId: string, options: ResumeOptions): Promise<void>;
}

/** Changes the code of agents, by the control thread. */
export function upgrading(
  api: Pick<Remote<ControlCalls>, 'upgrade' | 'resume' | 'roster'>,
  given: GivenAgents,
): Upgrading {
  const orderOf = ({ module, fresh, graceMs }: z.output<typeof UpgradeOptions>) => ({
    ...(module === undefined ? { module, isLive: false } : given.codeOf(module)),
    isFresh: fresh,
    graceMs,
  });

  async function change(agentId: string, options: z.output<typeof UpgradeOptions>): Promise<Upgraded> {
    return api.upgrade(agentId, orderOf(options));
  }

  async function upgrade(agentId: string, options: UpgradeOptions = {}): Promise<Upgraded> {
    requireText('agentId', agentId);
    return change(agentId, parseOptions(UpgradeOptions, options, 'upgrade'));
  }

  async function upgradeAll(upgrades: readonly AgentUpgrade[]): Promise<readonly UpgradeResult[]> {
    const orders = parsedUpgrades(upgrades);
    const results: UpgradeResult[] = [];
    for (const [at, { agentId, ...options }] of orders.entries()) {
      try {
        const { status } = await change(agentId, options);
        const unless = status === 'running' ? {} : { status };
        results.push({ agentId, outcome: 'upgraded', ...unless });
      } catch (thrown) {
        const error = errorWithStack(thrown);
        results.push({ agentId, outcome: error.code === 'SNAPSHOT_UNKNOWN' ? 'parked' : 'refused', error });
        for (const left of orders.slice(at + 1)) results.push({ agentId: left.agentId, outcome: 'skipped' });
        break;
      }
    }
    return results;
  }

  return {
    upgrade,
    upgradeAll,
    async rollingRestart(agentIds) {
      const ids = agentIds ?? (await api.roster()).filter(isRunning).map(({ id }) => id);
      if (!Array.isArray(ids)) throw invalidOptions('agentIds', ids, 'a list of ids');
      return upgradeAll(ids.map((agentId: string) => ({ agentId })));
    },
    async resume(agentId, options) {
      requireText('agentId', agentId);
      const { module, fresh } = parseOptions(ResumeOptions, options, 'resume');
      await api.resume(agentId, orderOf({ module, fresh, graceMs: 0 }));
    },
  };
}

function parsedUpgrades(upgrades: readonly AgentUpgrade[]) {
  if (!Array.isArray(upgrades)) throw invalidOptions('upgrades', upgrades, 'a list of them');
  const Order = UpgradeOptions.extend({ agentId: z.string().min(1) });
  return upgrades.map((one, at) => parseOptions(Order, one, `upgrades.${at}`));
}

const isRunning = ({ status }: RosterRow): boolean => status === 'running';
