import { countAgent, type SceneDraft } from './scene-draft.ts';
import type { AgentScene } from './scene.ts';
import { conversationIdOf, requestOf, type WatchedEvent } from './watched-event.ts';

const BROADCAST = '*';

/** What an event says of an envelope, a tool or a model. */
export function applyTraffic(draft: SceneDraft, event: WatchedEvent): void {
  switch (event.type) {
    case 'message-sent':
      return sent(draft, event);
    case 'routing-decision':
      return routed(draft, event);
    case 'message-received':
      return received(draft, event);
    case 'envelope-settled':
      return settled(draft, event);
    case 'dead-letter':
      return deadLetter(draft, event);
    case 'progress':
      return progress(draft, event);
    case 'tool-invocation':
      draft.totals.toolCalls += 1;
      seen(draft, event.agentId, event);
      return;
    case 'model-call':
      return modelCall(draft, event);
    case 'error':
      return failure(draft, event);
    case 'events-left-out':
      draft.leftOut += event.count ?? 0;
      if (event.place !== undefined) draft.placeOf(event.place).leftOut += event.count ?? 0;
      return;
  }
}

function sent(draft: SceneDraft, event: WatchedEvent): void {
  const { envelopeId, sender, recipient, timestamp } = event;
  draft.totals.sent += 1;
  draft.count('sent', timestamp);
  if (sender !== undefined) {
    const agent = draft.agentOf(sender);
    agent.sent += 1;
    see(agent, event);
    agent.place ??= event.place;
  }
  if (sender !== undefined && recipient !== undefined && recipient !== BROADCAST) {
    const edge = draft.edgeOf(sender, recipient);
    edge.count += 1;
    edge.lastMs = timestamp;
  }
  if (envelopeId === undefined) return;
  const asked = requestOf(envelopeId);
  if (asked !== undefined) {
    const request = draft.inFlightOf(asked);
    if (request !== undefined) request.isAnswered = true;
    return;
  }
  if (event.errorCode !== undefined || draft.settled.has(envelopeId)) return;
  const known = draft.inFlightOf(envelopeId);
  if (known === undefined) enter(draft, event, envelopeId).sentAtMs = timestamp;
  else known.sentAtMs = Math.min(known.sentAtMs, timestamp);
}

/** Enters an envelope that has no outcome yet; it waits in the mailbox of whom it is for, if that is known. */
function enter(draft: SceneDraft, event: WatchedEvent, envelopeId: string) {
  const {
    sender = '',
    recipient = '',
    messageType,
    capability,
    timestamp,
    deadlineAtMs,
    targetAgentId,
  } = event;
  const holder = draft.knownAgent(targetAgentId ?? recipient);
  if (holder !== undefined) holder.waiting += 1;
  const envelope = {
    owner: 0,
    envelopeId,
    node: event.node,
    sender,
    recipient: targetAgentId ?? recipient,
    messageType,
    capability,
    conversationId: conversationIdOf(event),
    sentAtMs: timestamp,
    receivedAtMs: undefined as number | undefined,
    attempts: 0,
    deadlineAtMs,
    isAnswered: false,
    counted: holder?.id,
  };
  draft.putInFlight(envelope);
  return draft.inFlightOf(envelopeId) ?? envelope;
}

function routed(draft: SceneDraft, event: WatchedEvent): void {
  const { envelopeId, errorCode, targetAgentId, sender, recipient, timestamp } = event;
  if (errorCode !== undefined || event.success === false) {
    draft.totals.refused += 1;
    draft.count('failed', timestamp);
    if (sender !== undefined && recipient !== undefined && recipient !== BROADCAST)
      draft.edgeOf(sender, recipient).refused += 1;
    if (envelopeId !== undefined && recipient !== BROADCAST) leave(draft, envelopeId);
    const text = `${nameOf(draft, sender)} may not send to ${nameOf(draft, recipient)}: ${event.reason ?? errorCode}`;
    if (event.security === true) draft.note('security', event, text);
    else draft.note('failures', event, text);
    return;
  }
  if (event.security === true)
    draft.note(
      'security',
      event,
      event.reason ?? `${sender} sent to ${recipient} across an audited boundary`,
    );
  if (envelopeId === undefined || targetAgentId === undefined || recipient === BROADCAST) return;
  const known = draft.inFlightOf(envelopeId);
  if (known === undefined) return;
  known.recipient = targetAgentId;
  if (known.counted !== undefined || known.receivedAtMs !== undefined) return;
  const holder = draft.knownAgent(targetAgentId);
  if (holder === undefined) return;
  holder.waiting += 1;
  known.counted = holder.id;
}

const nameOf = (draft: SceneDraft, id: string | undefined): string =>
  id === undefined ? 'somebody' : (draft.agents.get(id)?.name ?? id);

function received(draft: SceneDraft, event: WatchedEvent): void {
  const { envelopeId, timestamp, sender = '' } = event;
  const id = event.targetAgentId ?? event.recipient;
  if (id === undefined || id === BROADCAST) return;
  const agent = draft.agentOf(id);
  see(agent, event);
  agent.place ??= event.place;
  if (envelopeId === undefined) return;
  const isOne = event.recipient !== BROADCAST && !draft.settled.has(envelopeId);
  const known = draft.inFlightOf(envelopeId) ?? (isOne ? enter(draft, event, envelopeId) : undefined);
  if (known !== undefined) {
    uncount(draft, known.counted);
    known.counted = undefined;
    known.receivedAtMs = timestamp;
    known.attempts += 1;
  }
  if (known?.attempts === 1) agent.begun += 1;
  const { inHand } = agent;
  const isBusy = inHand !== undefined && draft.inFlight.has(inHand.envelopeId);
  if (!isBusy || (event.messageType === 'request' && inHand.messageType !== 'request')) {
    agent.progress = undefined;
    agent.inHand = {
      envelopeId,
      sender,
      messageType: event.messageType,
      capability: event.capability,
      conversationId: conversationIdOf(event),
      sinceMs: timestamp,
    };
  }
  if (event.taint !== undefined) agent.taint = union(agent.taint, event.taint);
}

function settled(draft: SceneDraft, event: WatchedEvent): void {
  const { envelopeId, outcome, timestamp } = event;
  const { totals } = draft;
  totals.settled += 1;
  draft.count('settled', timestamp);
  if (outcome === 'handled') totals.handled += 1;
  else if (outcome === 'rejected') totals.rejected += 1;
  else if (outcome === 'expired') totals.expired += 1;
  else if (outcome === 'dead-lettered') totals.deadLettered += 1;
  if (outcome !== 'handled') draft.count('failed', timestamp);
  const id = event.targetAgentId ?? event.recipient;
  const agent = id === undefined || id === BROADCAST ? undefined : draft.agentOf(id);
  if (agent !== undefined) {
    see(agent, event);
    if (outcome === 'handled') agent.handled += 1;
    else agent.failed += 1;
    countAgent(agent, timestamp);
  }
  const wasBegun = envelopeId !== undefined && draft.inFlight.get(envelopeId)?.receivedAtMs !== undefined;
  if (envelopeId !== undefined && event.recipient !== BROADCAST) leave(draft, envelopeId);
  if (agent === undefined) return;
  if (wasBegun && agent.begun > 0) agent.begun -= 1;
  if (agent.inHand?.envelopeId !== envelopeId) return;
  agent.progress = undefined;
  agent.inHand = agent.begun > 0 ? nextInHand(draft, agent.id) : undefined;
}

/** What else an agent has begun and not ended. */
function nextInHand(draft: SceneDraft, agentId: string): AgentScene['inHand'] {
  for (const one of draft.inFlight.values()) {
    if (one.recipient !== agentId || one.receivedAtMs === undefined) continue;
    const { envelopeId, sender, messageType, capability, conversationId } = one;
    return { envelopeId, sender, messageType, capability, conversationId, sinceMs: one.receivedAtMs };
  }
  return undefined;
}

/** An envelope has its outcome. */
function leave(draft: SceneDraft, envelopeId: string): void {
  uncount(draft, draft.inFlight.get(envelopeId)?.counted);
  draft.noteSettled(envelopeId);
}

function uncount(draft: SceneDraft, agentId: string | undefined): void {
  const holder = draft.knownAgent(agentId);
  if (holder !== undefined && holder.waiting > 0) holder.waiting -= 1;
}

function deadLetter(draft: SceneDraft, event: WatchedEvent): void {
  const { envelopeId, sender, recipient, messageType, errorCode, reason, timestamp } = event;
  draft.noteDeadLetter({
    id: envelopeId,
    node: event.node,
    sender: sender ?? '',
    recipient: event.targetAgentId ?? recipient ?? '',
    type: messageType ?? '',
    code: errorCode ?? '',
    reason: reason ?? '',
    atMs: timestamp,
    conversationId: conversationIdOf(event),
    canReplay: false,
  });
  if (envelopeId !== undefined && recipient !== BROADCAST) leave(draft, envelopeId);
}

function progress(draft: SceneDraft, event: WatchedEvent): void {
  if (event.agentId === undefined) return;
  const agent = draft.agentOf(event.agentId);
  see(agent, event);
  const fraction = Math.min(1, Math.max(0, event.fraction ?? 0));
  agent.progress = { fraction, text: event.reason ?? '', atMs: event.timestamp };
}

function modelCall(draft: SceneDraft, event: WatchedEvent): void {
  draft.totals.modelCalls += 1;
  seen(draft, event.agentId, event);
  const { tokens = 0, costUsd = 0 } = event;
  const spending = draft.spendingToChange();
  if (spending.isTold || (tokens === 0 && costUsd === 0)) return;
  spendTo(draft, spending.tokens + tokens, spending.costUsd + costUsd);
}

/** The most points that a burn-down is drawn of: of more, every second one is left out. */
const MAX_POINTS = 600;

export function spendTo(draft: SceneDraft, tokens: number, costUsd: number): void {
  const spending = draft.spendingToChange();
  if (spending.tokens === tokens && spending.costUsd === costUsd && spending.points.length > 0) return;
  spending.tokens = tokens;
  spending.costUsd = costUsd;
  const thinned =
    spending.points.length < MAX_POINTS ? spending.points : spending.points.filter((_, at) => at % 2 === 0);
  spending.points = [...thinned, { atMs: draft.atMs, tokens, costUsd }];
}

function failure(draft: SceneDraft, event: WatchedEvent): void {
  const { agentId, errorCode, reason, timestamp } = event;
  const text = reason ?? errorCode ?? 'something went wrong';
  draft.note('failures', event, text);
  if (event.security === true) draft.note('security', event, text);
  if (agentId === undefined) return;
  const agent = draft.agentOf(agentId);
  see(agent, event);
  agent.lastError = { atMs: timestamp, code: errorCode ?? '', text };
}

function seen(draft: SceneDraft, agentId: string | undefined, event: WatchedEvent): void {
  if (agentId !== undefined) see(draft.agentOf(agentId), event);
}

function see(agent: AgentScene, { timestamp }: WatchedEvent): void {
  if (timestamp > agent.lastSeenMs) agent.lastSeenMs = timestamp;
}

const MAX_SOURCES = 32;

export function union(one: readonly string[], other: readonly string[]): readonly string[] {
  if (other.every((source) => one.includes(source))) return one;
  return [...new Set([...one, ...other])].sort().slice(0, MAX_SOURCES);
}
