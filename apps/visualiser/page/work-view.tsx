import type { JSX } from 'preact';
import { durationText, sinceStart } from '../model/durations.ts';
import { orderFor, taskState } from '../model/task-state.ts';
import type { MissionLook, ProposalLook, SwarmLook, TaskLook, WorkLook } from '../worker/look.ts';
import { Chart, type ChartLine } from './chart.tsx';
import { Icon } from './icon.tsx';
import { Machine } from './machine.tsx';
import { useBody, usePage } from './page-context.ts';
import { Summary } from './summary.tsx';
import { AgentLink, ConversationLink, Term, Text } from './text.tsx';

export function WorkView(): JSX.Element {
  const { state } = usePage();
  const body = useBody({ view: 'work' });
  const nowMs = state.look?.clock.atMs ?? 0;
  return (
    <div class="view">
      <Summary />
      {body === undefined ? null : (
        <>
          <div class="split">
            {body.mission === undefined ? (
              <section aria-label="Mission">
                <h2>Mission</h2>
                <p class="empty">No mission is running here.</p>
              </section>
            ) : (
              <Mission mission={body.mission} nowMs={nowMs} />
            )}
            <Spending spending={body.spending} />
          </div>
          <Proposals body={body} nowMs={nowMs} />
          <Swarms body={body} nowMs={nowMs} />
          <section aria-label="Tasks of others">
            <h2>Tasks that others gave</h2>
            {body.tasks.length === 0 ? (
              <p class="empty">None: nobody outside has given this team a task.</p>
            ) : (
              body.tasks.map((machine) => <Machine key={machine.key} machine={machine} isOpen={false} />)
            )}
          </section>
        </>
      )}
    </div>
  );
}

function Mission({ mission, nowMs }: { readonly mission: MissionLook; readonly nowMs: number }): JSX.Element {
  const { name, tasks, done, beganAtMs, endedAtMs, success, reason, pausedBy, isGuessed } = mission;
  const share = tasks.length === 0 ? 0 : done / tasks.length;
  return (
    <section aria-label="Mission">
      <h2>
        <Term word="mission">Mission</Term> <Text of={name} max={60} />
      </h2>
      <div class="mission-head">
        <span class="meter long" title={`${done} of ${tasks.length} tasks are done`}>
          <span class="meter-bar" aria-hidden="true">
            <span style={{ inlineSize: `${Math.round(share * 100)}%` }} />
          </span>
          <span class="number">
            {done} of {tasks.length} tasks done
          </span>
        </span>
        <span class="quiet">
          {endedAtMs === undefined
            ? `for ${durationText(nowMs - beganAtMs)}`
            : `took ${durationText(endedAtMs - beganAtMs)}`}
        </span>
        {success === undefined ? null : (
          <span class={success ? 'good' : 'bad'}>
            <Icon name={success ? 'good' : 'bad'} /> {success ? 'over, and well' : 'over, and failed'}{' '}
            <Text of={reason ?? ''} max={120} />
          </span>
        )}
      </div>
      {pausedBy === undefined ? null : (
        <p class="warning">
          <Icon name="parked" /> Paused by <Text of={pausedBy} max={60} />: no task is begun until somebody
          types <code>orrery continue</code>.
        </p>
      )}
      {isGuessed ? (
        <p class="quiet">
          This recording tells nothing of the mission itself: its tasks are taken from the conversations.
        </p>
      ) : null}
      <table class="plain wide">
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col">State</th>
            <th scope="col">Agent</th>
            <th scope="col">Attempts</th>
            <th scope="col">
              <Term word="gate">Gates</Term>
            </th>
            <th scope="col">Spent</th>
          </tr>
        </thead>
        <tbody>
          {tasks.map((task) => (
            <Task key={task.id} task={task} nowMs={nowMs} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Task({ task, nowMs }: { readonly task: TaskLook; readonly nowMs: number }): JSX.Element {
  const { id, title, state, agentId, agentName, attempts, gates, reason, sinceMs, facts, conversationId } =
    task;
  const { level: how, icon } = taskState(state);
  const level = how === undefined || how === 'good' ? '' : how;
  const order = orderFor(task);
  const spent = facts
    .filter(([name]) => name === 'tokens' || name === 'costUsd')
    .map(([name, value]) => (name === 'tokens' ? `${value} tokens` : `$${value}`));
  return (
    <tr class={level}>
      <th scope="row">
        {conversationId === undefined ? (
          <Text of={id} max={50} />
        ) : (
          <TaskLink id={id} conversationId={conversationId} />
        )}
        {title === undefined || title === id ? null : (
          <span class="quiet">
            {' '}
            <Text of={title} max={80} />
          </span>
        )}
      </th>
      <td>
        <span class={`status ${level}`}>
          <Icon name={icon} /> <Text of={state} max={30} />
        </span>{' '}
        <span class="quiet">for {durationText(nowMs - sinceMs)}</span>
        {order === undefined ? null : (
          <span class="reason">
            To let it in type{' '}
            <code>
              <Text of={order} max={160} />
            </code>
          </span>
        )}
        {reason === undefined || level === '' ? null : (
          <span class="reason">
            <Text of={reason} max={160} />
          </span>
        )}
      </td>
      <td>{agentId === undefined ? '–' : <AgentLink id={agentId} name={agentName ?? agentId} />}</td>
      <td class={attempts > 1 ? 'number warning' : 'number'}>{attempts}</td>
      <td>
        {gates.length === 0 ? '–' : null}
        {gates.map(({ name, passed, reason: why }) => (
          <span key={name} class={`gate ${passed ? 'good' : 'bad'}`} title={why}>
            <Icon name={passed ? 'good' : 'failed'} /> <Text of={name} max={24} />
            <span class="unseen">{passed ? ' passed' : ' did not pass'}</span>
          </span>
        ))}
      </td>
      <td class="number">{spent.length === 0 ? '–' : spent.join(', ')}</td>
    </tr>
  );
}

function TaskLink({
  id,
  conversationId,
}: {
  readonly id: string;
  readonly conversationId: string;
}): JSX.Element {
  const { state } = usePage();
  return (
    <a href={state.link({ view: 'conversation', id: conversationId })}>
      <Text of={id} max={50} />
    </a>
  );
}

const SPENT: ChartLine = { label: 'spent', colour: '--accent', fill: true };
const LIMIT: ChartLine = { label: 'limit', colour: '--bad', dash: [6, 4] };

function Spending({ spending }: { readonly spending: WorkLook['spending'] }): JSX.Element {
  const { state } = usePage();
  const startedAtMs = state.look?.clock.startedAtMs ?? 0;
  const { tokens, costUsd, tokenLimit, costLimit, points } = spending;
  const isMoney = points.some((point) => point.costUsd > 0) && tokens === 0;
  const limit = isMoney ? costLimit : tokenLimit;
  const times = points.map(({ atMs }) => (atMs - startedAtMs) / 1_000);
  const values = points.map((point) => (isMoney ? point.costUsd : point.tokens));
  const share = limit === undefined || limit === 0 ? undefined : (isMoney ? costUsd : tokens) / limit;
  return (
    <aside class="facts" aria-label="Budget" tabIndex={0}>
      <h2>
        <Term word="budget">Budget</Term>
      </h2>
      {points.length === 0 ? (
        <p class="empty">Nothing was spent on models.</p>
      ) : (
        <>
          <p class="number">
            <strong>{tokens.toLocaleString('en')}</strong> tokens
            {tokenLimit === undefined ? '' : ` of ${tokenLimit.toLocaleString('en')}`},{' '}
            <strong>${costUsd.toFixed(2)}</strong>
            {costLimit === undefined ? '' : ` of $${costLimit.toFixed(2)}`}
          </p>
          {share === undefined ? null : (
            <p class={share >= 1 ? 'bad' : share >= 0.8 ? 'warning' : 'quiet'}>
              {Math.round(share * 100)} % of the limit is spent.
            </p>
          )}
          <Chart
            label={`Spent over time: ${values.at(-1) ?? 0} ${isMoney ? 'dollars' : 'tokens'}${limit === undefined ? '' : ` of ${limit}`}`}
            lines={limit === undefined ? [SPENT] : [SPENT, LIMIT]}
            data={limit === undefined ? [times, values] : [times, values, times.map(() => limit)]}
            height={160}
          />
        </>
      )}
    </aside>
  );
}

function Proposals({ body, nowMs }: { readonly body: WorkLook; readonly nowMs: number }): JSX.Element {
  const { proposals, proposalTotal } = body;
  return (
    <section aria-label="Proposals">
      <h2>
        <Term word="proposal">Proposals</Term>{' '}
        {proposalTotal > proposals.length ? (
          <span class="quiet">
            the last {proposals.length} of {proposalTotal}
          </span>
        ) : null}
      </h2>
      {proposals.length === 0 ? (
        <p class="empty">No agent has proposed a task to another one.</p>
      ) : (
        <section class="scroll short" tabIndex={0} aria-label="List of proposals">
          <table class="plain wide">
            <thead>
              <tr>
                <th scope="col">From</th>
                <th scope="col">For</th>
                <th scope="col">State</th>
                <th scope="col">Has it</th>
                <th scope="col">
                  <Term word="bids">Bids</Term>
                </th>
                <th scope="col">Deadline</th>
                <th scope="col">What was said last</th>
              </tr>
            </thead>
            <tbody>
              {proposals.map((proposal) => (
                <Proposal key={proposal.id} proposal={proposal} nowMs={nowMs} />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}

function Proposal({
  proposal,
  nowMs,
}: {
  readonly proposal: ProposalLook;
  readonly nowMs: number;
}): JSX.Element {
  const { proposer, capability, conversationId, state, sinceMs, deadlineAtMs, bids, assignee, last } =
    proposal;
  const isOpen = state.startsWith('pending');
  return (
    <tr>
      <th scope="row">
        <Text of={proposer ?? '?'} max={30} />
      </th>
      <td>
        {conversationId === undefined ? (
          <Text of={capability ?? '–'} max={40} />
        ) : (
          <ConversationLink id={conversationId} max={40} />
        )}
      </td>
      <td>
        <Text of={state} max={40} /> <span class="quiet">for {durationText(nowMs - sinceMs)}</span>
      </td>
      <td>
        <Text of={assignee ?? '–'} max={30} />
      </td>
      <td class="number">{bids ?? '–'}</td>
      <td class="number">{deadlineAtMs === undefined || !isOpen ? '–' : leftText(deadlineAtMs - nowMs)}</td>
      <td class="quiet">
        <Text of={last ?? ''} max={110} />
      </td>
    </tr>
  );
}

const leftText = (ms: number): string => (ms >= 0 ? `in ${durationText(ms)}` : `${durationText(-ms)} ago`);

function Swarms({ body, nowMs }: { readonly body: WorkLook; readonly nowMs: number }): JSX.Element {
  const { state } = usePage();
  const startedAtMs = state.look?.clock.startedAtMs ?? 0;
  return (
    <section aria-label="Swarms">
      <h2>
        <Term word="swarm">Swarms</Term>
      </h2>
      {body.swarms.length === 0 && body.swarmNotes.length === 0 ? (
        <p class="empty">No swarm was formed.</p>
      ) : null}
      {body.swarms.map((swarm) => (
        <Swarm key={swarm.id} swarm={swarm} nowMs={nowMs} />
      ))}
      {body.swarmNotes.length === 0 ? null : (
        <details class="more">
          <summary>What was told of swarms</summary>
          <ul class="lines">
            {body.swarmNotes.map(({ atMs, text }, at) => (
              <li key={`${atMs} ${at}`}>
                <span class="number quiet">{sinceStart(atMs, startedAtMs)}</span> <Text of={text} max={240} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function Swarm({ swarm, nowMs }: { readonly swarm: SwarmLook; readonly nowMs: number }): JSX.Element {
  const { objective, owner, state, sinceMs, isOver, subTasks, id } = swarm;
  return (
    <section class="card" aria-label={`Swarm ${id.slice(0, 60)}`}>
      <h3>
        <Text of={objective === '' ? id : objective} max={120} />
      </h3>
      <p>
        of <Text of={owner ?? '?'} max={40} />, <Text of={state} max={60} />
        {isOver ? ' (over)' : ''} <span class="quiet">for {durationText(nowMs - sinceMs)}</span>
      </p>
      {subTasks.length === 0 ? null : (
        <table class="plain wide">
          <thead>
            <tr>
              <th scope="col">
                <Term word="sub-task">Sub-task</Term>
              </th>
              <th scope="col">State</th>
              <th scope="col">Agent</th>
              <th scope="col">
                <Term word="epoch">Epoch</Term>
              </th>
              <th scope="col">
                <Term word="lease">Lease</Term>
              </th>
              <th scope="col">Attempts</th>
              <th scope="col">Given to another</th>
            </tr>
          </thead>
          <tbody>
            {subTasks.map((one) => (
              <tr key={one.id}>
                <th scope="row">
                  <Text of={one.capability === '' ? one.id : one.capability} max={50} />
                </th>
                <td>
                  <Text of={one.state} max={40} />
                  {one.isOver ? ' (over)' : ''}
                </td>
                <td>
                  <Text of={one.assignee ?? '–'} max={30} />
                </td>
                <td class="number">{one.epoch ?? '–'}</td>
                <td class="number">
                  {one.leaseUntilMs === undefined ? '–' : leftText(one.leaseUntilMs - nowMs)}
                </td>
                <td class="number">{one.attempts ?? '–'}</td>
                <td class={one.reassignments > 0 ? 'number warning' : 'number'}>
                  {one.reassignments === 0 ? '–' : `${one.reassignments} times`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
