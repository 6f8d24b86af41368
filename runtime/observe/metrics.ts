import { Gauge, Registry } from 'prom-client';
import { A2A_MESSAGE_TYPES } from '../protocol/envelope.ts';
import type { RosterRow } from '../system/system.ts';
import { COUNT } from './seat-counters.ts';

const OUTCOME_COUNTS = [
  ['handled', COUNT.handled],
  ['rejected', COUNT.rejected],
  ['expired', COUNT.expired],
  ['dead-lettered', COUNT.deadLettered],
] as const;

const TOTALS = [
  ['orrery_envelopes_accepted_total', 'Envelopes accepted by a mailbox', COUNT.accepted],
  ['orrery_replies_total', 'Answers to asks', COUNT.replies],
  ['orrery_refusals_total', 'Envelopes that a policy or a full mailbox refused', COUNT.refused],
  ['orrery_security_events_total', 'Refusals by tier, escalation or sandbox', COUNT.securityEvents],
  ['orrery_cross_tier_total', 'Envelopes between agents of different tiers', COUNT.crossTier],
  ['orrery_errors_total', 'Errors', COUNT.errors],
  ['orrery_actor_crashes_total', 'Actors that died', COUNT.crashed],
  ['orrery_routing_seconds_total', 'Time spent on routing measured sends', COUNT.routingMs],
] as const;

/** The counters of all threads as Prometheus text; they are plain numbers until somebody asks. */
export function metricsText(counts: Float64Array, roster: readonly RosterRow[]): Promise<string> {
  const registry = new Registry();
  for (const [name, help, at] of TOTALS) {
    const value = counts[at] as number;
    new Gauge({ name, help, registers: [registry] }).set(
      name.endsWith('seconds_total') ? value / 1_000 : value,
    );
  }
  const settled = new Gauge({
    name: 'orrery_envelopes_settled_total',
    help: 'Envelopes by outcome',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const [outcome, at] of OUTCOME_COUNTS) settled.set({ outcome }, counts[at] as number);
  const sent = new Gauge({
    name: 'orrery_envelopes_sent_total',
    help: 'Envelopes sent, by message type; a broadcast counts once',
    labelNames: ['type'],
    registers: [registry],
  });
  for (const [at, type] of A2A_MESSAGE_TYPES.entries())
    sent.set({ type }, counts[COUNT.sentByType + at] as number);
  addRoster(registry, roster);
  return registry.metrics();
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
  const restarts = new Gauge({
    name: 'orrery_agent_restarts_total',
    help: 'Restarts of an agent',
    labelNames: ['agent'],
    registers: [registry],
  });
  for (const row of roster) {
    waiting.set({ agent: row.id }, row.waiting);
    restarts.set({ agent: row.id }, row.restarts);
  }
}
