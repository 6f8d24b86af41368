import type { JSX } from 'preact';
import { durationText } from '../model/durations.ts';
import type { AgentRow, SystemLook, TreeRow } from '../worker/look.ts';
import { Icon, Status } from './icon.tsx';
import { Meter, perSecondText, Spark } from './meter.tsx';
import { usePage, useBody } from './page-context.ts';
import { RatesChart } from './rates-chart.tsx';
import { Summary } from './summary.tsx';
import { AgentLink, Term, Text } from './text.tsx';
import { useWindow, Windowed } from './windowed.tsx';

const ROW = 34;

export function SystemView(): JSX.Element {
  const { state } = usePage();
  const { text, only } = state.route;
  const { window, box } = useWindow(ROW);
  const body = useBody({ view: 'system', window, text, only });
  return (
    <div class="view system">
      <Summary isFirst />
      <div class="bar">
        <h2>Agents by thread</h2>
        <a href={state.link({ view: 'graph' })}>Who talks to whom</a>
        <label class="push">
          Find{' '}
          <input
            type="search"
            value={text}
            placeholder="name, thread, capability"
            onInput={(event) => state.refine({ text: event.currentTarget.value })}
          />
        </label>
        <label>
          Show{' '}
          <select
            value={only}
            onChange={(event) => state.refine({ only: event.currentTarget.value as typeof only })}
          >
            <option value="all">all agents</option>
            <option value="busy">busy ones</option>
            <option value="trouble">those with trouble</option>
          </select>
        </label>
      </div>
      <div class="split">
        <div class="tree">
          <Windowed
            box={box}
            first={body?.first ?? 0}
            total={body?.total ?? 0}
            rowHeight={ROW}
            label="Agents by node and thread"
            as="table"
            head={<TreeHead />}
          >
            {body?.rows.map((row, at) => (
              <Row key={row.key} row={row} index={body.first + at + 2} />
            ))}
          </Windowed>
          {body !== undefined && body.agents > 0 && body.total <= 1 ? (
            <p class="empty">No agent is like that.</p>
          ) : null}
        </div>
        {body === undefined ? null : <Aside body={body} startedAtMs={state.look?.clock.startedAtMs ?? 0} />}
      </div>
    </div>
  );
}

const TreeHead = (): JSX.Element => (
  <div role="rowgroup" class="thead">
    <div role="row" aria-rowindex={1} class="tr">
      <span role="columnheader">
        <Term word="agent">Agent</Term>
      </span>
      <span role="columnheader">State</span>
      <span role="columnheader">What it does</span>
      <span role="columnheader">
        <Term word="mailbox">Mailbox</Term>
      </span>
      <span role="columnheader">Done</span>
      <span role="columnheader">
        <Term word="restarts">Restarts</Term>
      </span>
    </div>
  </div>
);

function Row({ row, index }: { readonly row: TreeRow; readonly index: number }): JSX.Element {
  if (row.kind === 'agent') return <Agent row={row} index={index} />;
  const isPlace = row.kind === 'place';
  const isBad = isPlace ? !row.isAlive : row.status === 'lost' || row.status === 'revoked';
  return (
    <div role="row" aria-rowindex={index} class={`tr ${row.kind}`}>
      <span role="cell" aria-colspan={6} class="wide">
        <Icon name={isPlace ? 'place' : 'node'} />
        <strong>
          <Text of={isPlace ? row.place : row.name} max={60} />
        </strong>
        {isBad ? (
          <span class="bad">
            <Icon name="bad" /> {isPlace ? 'died' : row.kind === 'node' ? row.status : ''}
          </span>
        ) : null}
        <span class="quiet">
          {isPlace && row.agents > 0 ? `${row.agents} agent${row.agents === 1 ? '' : 's'} · ` : ''}
          <Text of={row.text} max={160} />
        </span>
      </span>
    </div>
  );
}

function Agent({ row, index }: { readonly row: AgentRow; readonly index: number }): JSX.Element {
  const { state } = usePage();
  const nowMs = state.look?.clock.atMs ?? 0;
  const { busy, capacity, waiting, intensity, restarts } = row;
  return (
    <div role="row" aria-rowindex={index} class={`tr agent ${row.trouble ?? ''}`}>
      <span role="cell" class="name">
        {row.trouble === 'bad' || row.trouble === 'warning' ? (
          <Icon name={row.trouble} level={row.trouble} />
        ) : null}
        <AgentLink id={row.id} name={row.name} />
        {row.tier === undefined ? null : (
          <span class="quiet tier" title="Tier: how far it is trusted with others, 0 is the most">
            tier {row.tier}
          </span>
        )}
        {row.isTainted ? (
          <span title="It holds text from outside (taint)">
            <Icon name="flag" />
            <span class="unseen">tainted</span>
          </span>
        ) : null}
      </span>
      <span role="cell">
        <Status status={row.status} isBusy={busy !== undefined} />
      </span>
      <span role="cell" class="does">
        {row.waitsFor === undefined ? null : (
          <span class="waits">
            <Icon name="waiting" /> waits for <Text of={row.waitsFor} max={30} />
          </span>
        )}
        {busy === undefined ? (
          <span class="quiet">–</span>
        ) : (
          <>
            <Text of={busy.what} max={40} />
            <span class="quiet">
              {busy.fraction === undefined ? '' : ` · ${Math.round(busy.fraction * 100)} %`} ·{' '}
              {durationText(nowMs - busy.sinceMs)} · for <Text of={busy.from} max={30} />
              {busy.text === '' ? null : (
                <>
                  {' · '}
                  <Text of={busy.text} max={60} />
                </>
              )}
            </span>
          </>
        )}
      </span>
      <span role="cell">
        <Meter
          value={waiting}
          of={capacity}
          label={
            capacity === undefined
              ? `${waiting} wait`
              : `${waiting} wait; it takes ${Math.max(0, capacity - waiting)} more (credit)`
          }
        />
      </span>
      <span role="cell" class="rate">
        <Spark counts={row.spark} label={`${perSecondText(row.perSecond)} in the last ten seconds`} />
        <span class="number">{perSecondText(row.perSecond)}</span>
      </span>
      <span role="cell" class={restarts > 0 ? 'number warning' : 'number quiet'}>
        {intensity === undefined
          ? restarts
          : `${restarts} (${intensity.restarts} of ${intensity.maxRestarts})`}
      </span>
    </div>
  );
}

function Aside({
  body,
  startedAtMs,
}: {
  readonly body: SystemLook;
  readonly startedAtMs: number;
}): JSX.Element {
  const { account, rates } = body;
  const rows = [
    ['sent', account.sent, 'envelope'],
    ['handled', account.handled, undefined],
    ['rejected', account.rejected, 'rejected'],
    ['expired', account.expired, 'expired'],
    ['dead letters', account.deadLettered, 'dead letter'],
    ['refused', account.refused, 'refused'],
    ['in flight', account.inFlight, 'in flight'],
  ] as const;
  return (
    <aside class="facts" aria-label="Envelopes" tabIndex={0}>
      <h2>
        <Term word="envelope">Envelopes</Term> a second
      </h2>
      <RatesChart rates={rates} startedAtMs={startedAtMs} />
      <table class="plain">
        <caption class="unseen">Envelopes by outcome</caption>
        <tbody>
          {rows.map(([name, count, word]) => (
            <tr key={name}>
              <th scope="row">{word === undefined ? name : <Term word={word}>{name}</Term>}</th>
              <td class={`number ${count > 0 && BAD.has(name) ? 'warning' : ''}`}>{count}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {account.holds === undefined ? (
        <p class="quiet">Counted from what this recording holds.</p>
      ) : (
        <p class={account.holds ? 'quiet' : 'bad'}>
          <Icon name={account.holds ? 'good' : 'bad'} />{' '}
          {account.holds ? 'Each is accounted for.' : 'They do not add up.'}
        </p>
      )}
      <h2>Agents</h2>
      <ul class="counts">
        {body.counts.map(({ status, count }) => (
          <li key={status}>
            <Status status={status} isBusy={false} /> <span class="number">{count}</span>
          </li>
        ))}
      </ul>
    </aside>
  );
}

const BAD: ReadonlySet<string> = new Set(['rejected', 'expired', 'dead letters', 'refused']);
