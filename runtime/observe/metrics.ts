import { Counter, Gauge, Registry } from 'prom-client';
import { A2A_MESSAGE_TYPES } from '../protocol/envelope.ts';
import type { Conservation } from '../protocol/conservation.ts';
import type { RosterRow } from '../protocol/roster.ts';
import { COUNT } from './thread-counters.ts';
import type { ToolCount } from './tool-counts.ts';

const TOTALS = [
  ['orrery_replies_total', 'Answers to asks', COUNT.replies],
  ['orrery_refusals_total', 'Envelopes that a policy or a full mailbox refused', COUNT.refused],
  ['orrery_security_events_total', 'Refusals by a policy', COUNT.securityEvents],
  ['orrery_cross_tier_total', 'Envelopes between agents of different tiers', COUNT.crossTier],
  ['orrery_errors_total', 'Errors', COUNT.errors],
  ['orrery_actor_crashes_total', 'Actors that died', COUNT.crashed],
  ['orrery_model_calls_total', 'Calls of models, each attempt of its own', COUNT.modelCalls],
  ['orrery_model_retries_total', 'Calls of models that were tried again', COUNT.modelRetries],
  ['orrery_model_tokens_total', 'Tokens spent on models', COUNT.modelTokens],
  ['orrery_model_cost_usd_total', 'Dollars spent on models', COUNT.modelCostUsd],
  ['orrery_tool_invocations_total', 'Calls of tools', COUNT.toolCalls],
  ['orrery_tool_errors_total', 'Calls of tools that failed', COUNT.toolErrors],
  ['orrery_routings_measured_total', 'Routings that were measured, one in several', COUNT.routings],
] as const;

/** - `tools` calls by tool, of the threads that run now; the totals are of all that ever ran. */
export interface MetricsSource {
  readonly counts: Float64Array;
  readonly account: Conservation;
  readonly roster: readonly RosterRow[];
  readonly tools: readonly ToolCount[];
}

/** The counters of all threads as Prometheus text; they are plain numbers until somebody asks. */
export function metricsText({ counts, account, roster, tools }: MetricsSource): Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  for (const [name, help, at] of TOTALS) new Counter({ name, help, registers }).inc(counts[at] as number);
  const routing = { name: 'orrery_routing_seconds_total', help: 'Time that the measured routings took' };
  new Counter({ ...routing, registers }).inc((counts[COUNT.routingMs] as number) / 1_000);
  const sent = new Counter({
    name: 'orrery_envelopes_sent_total',
    help: 'Envelopes sent, by message type; a broadcast counts once',
    labelNames: ['type'],
    registers,
  });
  for (const [at, type] of A2A_MESSAGE_TYPES.entries()) {
    sent.inc({ type }, counts[COUNT.sentByType + at] as number);
  }
  addTools(registry, counts, tools);
  addAccount(registry, account);
  addRoster(registry, roster);
  return registry.metrics();
}

/** Calls and their seconds, which give the average. */
function addTools(registry: Registry, counts: Float64Array, tools: readonly ToolCount[]): void {
  const registers = [registry];
  const seconds = { name: 'orrery_tool_seconds_total', help: 'Time that calls of tools took' };
  new Counter({ ...seconds, registers }).inc((counts[COUNT.toolMs] as number) / 1_000);
  const calls = new Counter({
    name: 'orrery_tool_invocations_by_tool_total',
    help: 'Calls of tools by tool; of the threads that run now, the first 1,000 tools',
    labelNames: ['tool'],
    registers,
  });
  for (const [tool, count] of tools) calls.inc({ tool }, count);
}

/** Accepted is written as settled plus in flight of one moment, so that a scrape adds up. */
function addAccount(registry: Registry, account: Conservation): void {
  const registers = [registry];
  const accepted = { name: 'orrery_envelopes_accepted_total', help: 'Envelopes accepted by a mailbox' };
  new Counter({ ...accepted, registers }).inc(account.accepted);
  const settled = new Counter({
    name: 'orrery_envelopes_settled_total',
    help: 'Envelopes by outcome',
    labelNames: ['outcome'],
    registers,
  });
  settled.inc({ outcome: 'handled' }, account.handled);
  settled.inc({ outcome: 'rejected' }, account.rejected);
  settled.inc({ outcome: 'expired' }, account.expired);
  settled.inc({ outcome: 'dead-lettered' }, account.deadLettered);
  const inFlight = { name: 'orrery_envelopes_in_flight', help: 'Envelopes in mailboxes and ledgers' };
  new Gauge({ ...inFlight, registers }).set(account.inFlight);
  const holds = {
    name: 'orrery_conservation_holds',
    help: '1 while every accepted envelope is accounted for',
  };
  new Gauge({ ...holds, registers }).set(account.holds ? 1 : 0);
}

function addRoster(registry: Registry, roster: readonly RosterRow[]): void {
  const agents = new Gauge({
    name: 'orrery_agents',
    help: 'Agents by status',
    labelNames: ['status'],
    registers: [registry],
  });
  for (const { status } of roster) agents.inc({ status });
  const waiting = new Gauge({
    name: 'orrery_mailbox_waiting',
    help: 'Envelopes sent to an agent and not settled',
    labelNames: ['agent'],
    registers: [registry],
  });
  const restarts = new Counter({
    name: 'orrery_agent_restarts_total',
    help: 'Restarts of an agent',
    labelNames: ['agent'],
    registers: [registry],
  });
  for (const row of roster) {
    waiting.set({ agent: row.id }, row.waiting);
    restarts.inc({ agent: row.id }, row.restarts);
  }
}
