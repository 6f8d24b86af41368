import { Counter, Gauge, Registry } from 'prom-client';
import { A2A_MESSAGE_TYPES } from '../protocol/envelope.ts';
import type { Conservation } from '../protocol/conservation.ts';
import { PeerRow } from '../protocol/peer-row.ts';
import { LATENCY_BOUNDS_MS, LATENCY_BUCKETS } from './latency.ts';
import {
  type AgentMeasures,
  type JournalMeasures,
  MOST_ROWS,
  mostOf,
  type PlaceMeasures,
  type SystemMeasures,
} from './measures.ts';
import { COUNT } from './thread-counters.ts';
import { sumOfCounts } from './tool-counts.ts';

const TOTALS = [
  ['orrery_replies_total', 'Answers to asks', COUNT.replies],
  ['orrery_refusals_total', 'Envelopes that a policy or a full mailbox refused', COUNT.refused],
  ['orrery_security_events_total', 'Refusals by a policy', COUNT.securityEvents],
  ['orrery_cross_tier_total', 'Envelopes between agents of different tiers', COUNT.crossTier],
  ['orrery_errors_total', 'Errors', COUNT.errors],
  ['orrery_actor_crashes_total', 'Actors that died', COUNT.crashed],
  ['orrery_batches_sent_total', 'Batches of envelopes that went between threads', COUNT.batchesSent],
  ['orrery_model_calls_total', 'Calls of models, each attempt of its own', COUNT.modelCalls],
  ['orrery_model_retries_total', 'Calls of models that were tried again', COUNT.modelRetries],
  ['orrery_model_tokens_total', 'Tokens spent on models', COUNT.modelTokens],
  ['orrery_model_cost_usd_total', 'Dollars spent on models', COUNT.modelCostUsd],
  ['orrery_tool_invocations_total', 'Calls of tools', COUNT.toolCalls],
  ['orrery_tool_errors_total', 'Calls of tools that failed', COUNT.toolErrors],
  ['orrery_routings_measured_total', 'Routings that were measured, one in several', COUNT.routings],
] as const;

export interface MetricsSource extends SystemMeasures {
  readonly account: Conservation;
  readonly peers: readonly PeerRow[];
  readonly nowMs: number;
}

/** What is measured of a whole system, as Prometheus text; it is plain numbers until somebody asks. */
export async function metricsText(source: MetricsSource): Promise<string> {
  const { counts, account, agents, places, peers, journal, nowMs } = source;
  const series = new Series();
  for (const [name, help, at] of TOTALS) series.total(name, help, counts[at] as number);
  const routing = 'Time that the measured routings took';
  series.total('orrery_routing_seconds_total', routing, seconds(counts[COUNT.routingMs] as number));
  addSent(series, counts);
  addTools(series, counts, places);
  addAccount(series, account);
  addDeadLetters(series, source.deadLetters);
  addAgents(series, agents);
  addOldest(series, places, nowMs);
  addPlaces(series, places);
  addPeers(series, peers);
  series.gauge('orrery_budgets_open', 'Accounts of budgets that are open').set(source.openBudgets);
  if (journal !== undefined) addJournal(series, journal);
  return `${await series.text()}${latencyText(counts)}`;
}

const seconds = (ms: number): number => ms / 1_000;

/** The metrics of one scrape. */
class Series {
  readonly #registry = new Registry();

  total(name: string, help: string, value: number): void {
    new Counter({ name, help, registers: [this.#registry] }).inc(value);
  }

  counter<Label extends string = never>(name: string, help: string, ...labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  gauge<Label extends string = never>(name: string, help: string, ...labelNames: Label[]): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] });
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}

function addSent(series: Series, counts: Float64Array): void {
  const help = 'Envelopes sent, by message type; a broadcast counts once';
  const sent = series.counter('orrery_envelopes_sent_total', help, 'type');
  for (const [at, type] of A2A_MESSAGE_TYPES.entries()) {
    sent.inc({ type }, counts[COUNT.sentByType + at] as number);
  }
}

/** Calls and their seconds, which give the average. */
function addTools(series: Series, counts: Float64Array, places: readonly PlaceMeasures[]): void {
  const took = 'Time that calls of tools took';
  series.total('orrery_tool_seconds_total', took, seconds(counts[COUNT.toolMs] as number));
  const tools = places.flatMap(({ measures }) => (measures === undefined ? [] : [measures.tools]));
  const help = 'Calls of tools by tool, of the threads that run now: 1,000 tools, and all others together';
  const calls = series.counter('orrery_tool_invocations_by_tool_total', help, 'tool');
  for (const [tool, count] of sumOfCounts(tools)) calls.inc({ tool }, count);
}

/** Accepted is written as settled plus in flight of one moment, so that a scrape adds up. */
function addAccount(series: Series, account: Conservation): void {
  const { accepted, handled, rejected, expired, deadLettered, inFlight, holds } = account;
  series.total('orrery_envelopes_accepted_total', 'Envelopes accepted by a mailbox', accepted);
  const settled = series.counter('orrery_envelopes_settled_total', 'Envelopes by outcome', 'outcome');
  settled.inc({ outcome: 'handled' }, handled);
  settled.inc({ outcome: 'rejected' }, rejected);
  settled.inc({ outcome: 'expired' }, expired);
  settled.inc({ outcome: 'dead-lettered' }, deadLettered);
  series.gauge('orrery_envelopes_in_flight', 'Envelopes in mailboxes and ledgers').set(inFlight);
  const help = '1 while every accepted envelope is accounted for';
  series.gauge('orrery_conservation_holds', help).set(holds ? 1 : 0);
}

function addDeadLetters(series: Series, counts: MetricsSource['deadLetters']): void {
  const help = 'Dead letters of this process, by the code that says why';
  const letters = series.counter('orrery_dead_letters_total', help, 'code');
  for (const [code, count] of counts) letters.inc({ code }, count);
}

function addAgents(series: Series, measures: AgentMeasures): void {
  const agents = series.gauge('orrery_agents', 'Agents by status', 'status');
  for (const [status, count] of Object.entries(measures.byStatus)) agents.set({ status }, count);
  const left = Math.max(0, measures.total - MOST_ROWS);
  series.gauge('orrery_agents_unlisted', 'Agents that have no rows of their own in this scrape').set(left);
  const processes = 'Agents whose code has a process of its own now';
  series.gauge('orrery_agent_processes', processes).set(measures.processes);
  const inAll = 'Envelopes sent to agents and not settled, of all agents';
  series.gauge('orrery_mailboxes_waiting', inAll).set(measures.waitingInAll);
  const help = 'Envelopes sent to an agent and not settled: of those with most';
  const waiting = series.gauge('orrery_mailbox_waiting', help, 'agent');
  for (const row of measures.waiting) waiting.set({ agent: row.agentId }, row.waiting);
  const most = 'Restarts of an agent: of those with most';
  const restarts = series.counter('orrery_agent_restarts_total', most, 'agent');
  const allowed =
    'Restarts that the group of an agent may need now before it is given up: of those with most restarts';
  const restartsLeft = series.gauge('orrery_agent_restarts_left', allowed, 'agent');
  for (const row of measures.restarted) {
    restarts.inc({ agent: row.agentId }, row.restarts);
    restartsLeft.set({ agent: row.agentId }, row.restartsLeft);
  }
}

/** Since when something waits. An agent of whose mailbox no thread says anything has none that waits. */
function addOldest(series: Series, places: readonly PlaceMeasures[], nowMs: number): void {
  const oldest = mostOf(
    places.flatMap(({ measures }) => measures?.oldest ?? []),
    ({ sinceMs }) => -sinceMs,
  );
  const help = 'Age of the first envelope that waits in a mailbox: of those that wait longest';
  const gauge = series.gauge('orrery_mailbox_oldest_seconds', help, 'agent');
  for (const { agentId: agent, sinceMs } of oldest)
    gauge.set({ agent }, seconds(Math.max(0, nowMs - sinceMs)));
}

function addPlaces(series: Series, places: readonly PlaceMeasures[]): void {
  const isUp = series.gauge('orrery_place_up', '1 while the thread of a place runs', 'place');
  const beats = series.counter(
    'orrery_place_beats_total',
    'Beats of a thread: 20 a second unless it is held up',
    'place',
  );
  const cpu = series.counter('orrery_place_cpu_seconds_total', 'Processor time of a thread', 'place');
  const busy = series.counter(
    'orrery_place_busy_seconds_total',
    'Time in which the event loop of a thread did not wait',
    'place',
  );
  const heap = series.gauge('orrery_place_heap_bytes', 'Heap that a thread uses', 'place');
  for (const { place, measures, ...facts } of places.slice(0, MOST_ROWS)) {
    isUp.set({ place }, facts.isUp ? 1 : 0);
    beats.inc({ place }, facts.beats >>> 0);
    if (measures === undefined) continue;
    cpu.inc({ place }, seconds(measures.cpuMs));
    busy.inc({ place }, seconds(measures.busyMs));
    heap.set({ place }, measures.heapBytes);
  }
}

function addPeers(series: Series, peers: readonly PeerRow[]): void {
  const nodes = series.gauge('orrery_peers', 'Other nodes by status', 'status');
  for (const status of PeerRow.shape.status.options) nodes.set({ status }, 0);
  for (const { status } of peers) nodes.inc({ status });
  const open = series.gauge(
    'orrery_peer_requests_open',
    'Requests without an outcome: ours there, and theirs here',
    'direction',
  );
  const sumOf = (count: (row: PeerRow) => number): number => peers.reduce((sum, row) => sum + count(row), 0);
  open.set(
    { direction: 'asked' },
    sumOf(({ asked }) => asked),
  );
  open.set(
    { direction: 'served' },
    sumOf(({ served }) => served),
  );
}

function addJournal(series: Series, { bytes, commits, commitMs, waiting, isFailing }: JournalMeasures): void {
  series.gauge('orrery_journal_bytes', 'Size of the journal and its log').set(bytes);
  series.total('orrery_journal_commits_total', 'Commits of the journal', commits);
  series.total('orrery_journal_commit_seconds_total', 'Time that commits took', seconds(commitMs));
  series
    .gauge('orrery_journal_units_waiting', 'What was given to the journal and is not written')
    .set(waiting);
  series.gauge('orrery_journal_failing', '1 while the journal cannot write').set(isFailing ? 1 : 0);
}

/** A histogram whose buckets were counted elsewhere: prom-client makes one of single observations alone. */
function latencyText(counts: Float64Array): string {
  const name = 'orrery_envelope_seconds';
  const lines = [
    `# HELP ${name} From when an envelope was made until its outcome`,
    `# TYPE ${name} histogram`,
  ];
  let sum = 0;
  for (let at = 0; at < LATENCY_BUCKETS; at++) {
    sum += counts[COUNT.latencyBuckets + at] as number;
    const bound = LATENCY_BOUNDS_MS[at];
    lines.push(`${name}_bucket{le="${bound === undefined ? '+Inf' : seconds(bound)}"} ${sum}`);
  }
  lines.push(`${name}_sum ${seconds(counts[COUNT.latencyMs] as number)}`, `${name}_count ${sum}`);
  return `${lines.join('\n')}\n`;
}
