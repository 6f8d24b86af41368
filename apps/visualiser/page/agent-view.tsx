import type { JSX } from 'preact';
import { durationText, sinceStart } from '../model/durations.ts';
import type { AgentDetail, WaitLook } from '../worker/look.ts';
import { Icon, Status } from './icon.tsx';
import { Machine } from './machine.tsx';
import { Meter, perSecondText, Spark } from './meter.tsx';
import { useBody, usePage } from './page-context.ts';
import { TroubleLine } from './summary.tsx';
import { AgentLink, ConversationLink, Term, Text } from './text.tsx';

export function AgentView({ id }: { readonly id: string }): JSX.Element {
  const { state } = usePage();
  const body = useBody({ view: 'agent', id });
  const agent = body?.id === id ? body.agent : undefined;
  const nowMs = state.look?.clock.atMs ?? 0;
  return (
    <div class="view">
      <p class="crumbs">
        <a href={state.link({ view: 'system' })}>System</a> / agent
      </p>
      <h1>
        <Text of={agent?.name ?? id} max={80} />
        {agent === undefined ? null : <Status status={agent.status} isBusy={agent.busy !== undefined} />}
      </h1>
      {body === undefined ? null : agent === undefined ? (
        <p class="empty">At this moment nothing is known of an agent of this name.</p>
      ) : (
        <>
          {agent.troubles.length === 0 ? null : (
            <ul class="strip" aria-label="Trouble with this agent">
              {agent.troubles.map((trouble) => (
                <li key={trouble.key} class={trouble.level}>
                  <TroubleLine trouble={trouble} />
                </li>
              ))}
            </ul>
          )}
          <div class="columns">
            <Card agent={agent} nowMs={nowMs} />
            <Now agent={agent} nowMs={nowMs} />
          </div>
          <section aria-label="State machines">
            <h2>Its state machines</h2>
            {agent.machines.length === 0 ? (
              <p class="empty">This recording tells of no state machine of this agent.</p>
            ) : (
              agent.machines.map((machine, at) => (
                <Machine key={machine.key} machine={machine} isOpen={at === 0} />
              ))
            )}
          </section>
          <Conversations agent={agent} />
        </>
      )}
    </div>
  );
}

function Card({ agent, nowMs }: { readonly agent: AgentDetail; readonly nowMs: number }): JSX.Element {
  const facts: readonly (readonly [string, JSX.Element | string | undefined])[] = [
    ['Id', <Text key="id" of={agent.id} max={80} />],
    ['Version', agent.version],
    ['Tier', agent.tier === undefined ? undefined : `${agent.tier} of 0 to 3, 0 is trusted most`],
    [
      'Does',
      agent.capabilities.length === 0 ? undefined : (
        <Text key="does" of={agent.capabilities.join(', ')} max={300} />
      ),
    ],
    ['Thread', agent.place === undefined ? undefined : <Text key="place" of={whereOf(agent)} max={120} />],
    ['Isolation', agent.isolation],
    ['Restart group', agent.group],
    ['In this state', `for ${durationText(nowMs - agent.sinceMs)}`],
    ['Last heard of', `${durationText(nowMs - agent.lastSeenMs)} ago`],
    [
      'Tried again',
      agent.retryAtMs === undefined ? undefined : `in ${durationText(agent.retryAtMs - nowMs)}`,
    ],
    ['Parked', agent.parked],
    [
      'Tainted by',
      agent.taint.length === 0 ? undefined : <Text key="taint" of={agent.taint.join(', ')} max={200} />,
    ],
  ];
  return (
    <section class="card" aria-label="Card">
      <h2>Card</h2>
      <dl>
        {facts.map(([name, value]) =>
          value === undefined ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
    </section>
  );
}

const whereOf = ({ place = '', node, pid, threadId }: AgentDetail): string =>
  [
    node ?? '',
    place,
    threadId === undefined ? '' : `thread ${threadId}`,
    pid === undefined ? '' : `process ${pid}`,
  ]
    .filter((one) => one !== '')
    .join(', ');

function Now({ agent, nowMs }: { readonly agent: AgentDetail; readonly nowMs: number }): JSX.Element {
  const { busy, waiting, capacity, restarts, intensity, lastError } = agent;
  return (
    <section class="card" aria-label="Now">
      <h2>Now</h2>
      <p>
        {busy === undefined ? (
          'It works at nothing.'
        ) : (
          <>
            Works at <Text of={busy.what} max={60} /> for <Text of={busy.from} max={40} />, since{' '}
            {durationText(nowMs - busy.sinceMs)}
            {busy.conversationId === undefined ? null : (
              <>
                {' '}
                (<ConversationLink id={busy.conversationId} />)
              </>
            )}
            .{' '}
            {busy.fraction === undefined ? null : (
              <span class="progress">
                {Math.round(busy.fraction * 100)} %: <Text of={busy.text} max={120} />
              </span>
            )}
          </>
        )}
      </p>
      <dl>
        <div>
          <dt>
            <Term word="mailbox">Mailbox</Term>
          </dt>
          <dd>
            <Meter value={waiting} of={capacity} label="Envelopes that wait" />
            {capacity === undefined ? null : (
              <span class="quiet">
                {' '}
                <Term word="credit">credit</Term> {Math.max(0, capacity - waiting)}
              </span>
            )}
          </dd>
        </div>
        <div>
          <dt>Envelopes</dt>
          <dd class="number">
            {agent.handled} handled, {agent.failed} failed, {agent.sent} sent
          </dd>
        </div>
        <div>
          <dt>Rate</dt>
          <dd class="rate">
            <Spark counts={agent.spark} label="The last 30 seconds" /> {perSecondText(agent.perSecond)}
          </dd>
        </div>
        <div>
          <dt>
            <Term word="restarts">Restarts</Term>
          </dt>
          <dd class={restarts > 0 ? 'warning number' : 'number'}>
            {restarts}
            {intensity === undefined
              ? ''
              : `; ${intensity.restarts} of ${intensity.maxRestarts} within ${durationText(intensity.withinMs)}`}
          </dd>
        </div>
        {lastError === undefined ? null : (
          <div>
            <dt>Last error</dt>
            <dd>
              <Text of={[lastError.code, lastError.text].filter((one) => one !== '').join(': ')} max={400} />{' '}
              <span class="quiet">{durationText(nowMs - lastError.atMs)} ago</span>
            </dd>
          </div>
        )}
      </dl>
      <Waits title="It waits for" waits={agent.waitsForWhom} nowMs={nowMs} isWaiter />
      <Waits title="It is waited for by" waits={agent.waitedForBy} nowMs={nowMs} isWaiter={false} />
    </section>
  );
}

function Waits({
  title,
  waits,
  nowMs,
  isWaiter,
}: {
  readonly title: string;
  readonly waits: readonly WaitLook[];
  readonly nowMs: number;
  readonly isWaiter: boolean;
}): JSX.Element | null {
  if (waits.length === 0) return null;
  return (
    <>
      <h3>
        <Icon name="waiting" /> {title}
      </h3>
      <ul class="lines">
        {waits.map((wait) => (
          <li key={wait.envelopeId}>
            {isWaiter ? (
              <AgentLink id={wait.awaited} name={wait.awaitedName} />
            ) : (
              <AgentLink id={wait.waiter} name={wait.waiterName} />
            )}{' '}
            <span class="quiet">
              <Text of={wait.capability ?? ''} max={40} /> for {durationText(nowMs - wait.sinceMs)}
              {wait.untilMs === undefined ? '' : `, for ${durationText(wait.untilMs - nowMs)} more at most`}
              {wait.isBegun ? '' : ', still in the mailbox'}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Conversations({ agent }: { readonly agent: AgentDetail }): JSX.Element {
  const { state } = usePage();
  const startedAtMs = state.look?.clock.startedAtMs ?? 0;
  return (
    <section aria-label="Conversations">
      <h2>
        Its <Term word="conversation">conversations</Term>
      </h2>
      {agent.conversations.length === 0 ? (
        <p class="empty">None begun by it or with it.</p>
      ) : (
        <ul class="lines">
          {agent.conversations.map(({ id, events, lastMs, troubles }) => (
            <li key={id}>
              <ConversationLink id={id} />{' '}
              <span class="quiet">
                {events} events, last at {sinceStart(lastMs, startedAtMs)}
              </span>
              {troubles === 0 ? null : (
                <span class="warning">
                  {' '}
                  <Icon name="warning" /> {troubles} went wrong
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
