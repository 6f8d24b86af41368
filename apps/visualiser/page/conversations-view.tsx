import type { JSX } from 'preact';
import { durationText, sinceStart } from '../model/durations.ts';
import type { ConversationSummary } from '../model/recording.ts';
import { Icon } from './icon.tsx';
import { useBody, usePage } from './page-context.ts';
import { Summary } from './summary.tsx';
import { ConversationLink, Text } from './text.tsx';
import { useWindow, Windowed } from './windowed.tsx';

const ROW = 34;
const HEADS = ['Conversation', 'Began with', 'Events', 'Began', 'Took', 'Went wrong'] as const;

export function ConversationsView(): JSX.Element {
  const { state } = usePage();
  const { text } = state.route;
  const { window, box } = useWindow(ROW);
  const body = useBody({ view: 'conversations', text, window });
  return (
    <div class="view system">
      <Summary />
      <div class="bar">
        <h2>Conversations</h2>
        <span class="quiet">
          {body === undefined
            ? ''
            : `${body.found} of ${body.total}, the last ones first. Each is all that one request has caused.`}
        </span>
        <label class="push">
          Find{' '}
          <input
            type="search"
            value={text}
            placeholder="id or capability"
            onInput={(event) => state.refine({ text: event.currentTarget.value })}
          />
        </label>
      </div>
      <div class="tree talks">
        <Windowed
          box={box}
          first={body?.first ?? 0}
          total={body?.found ?? 0}
          rowHeight={ROW}
          label="Conversations"
          as="table"
          head={<Head />}
        >
          {body?.conversations.map((one, at) => (
            // By its place: of a busy team all rows change all the time.
            <Row key={body.first + at} of={one} index={body.first + at + 2} />
          ))}
        </Windowed>
        {body !== undefined && body.found === 0 ? (
          <p class="empty">
            {text === '' ? 'Nobody has asked anything yet.' : 'No conversation is like that.'}
          </p>
        ) : null}
      </div>
    </div>
  );
}

const Head = (): JSX.Element => (
  <div role="rowgroup" class="thead">
    <div role="row" aria-rowindex={1} class="tr">
      {HEADS.map((name) => (
        <span key={name} role="columnheader">
          {name}
        </span>
      ))}
    </div>
  </div>
);

function Row({ of, index }: { readonly of: ConversationSummary; readonly index: number }): JSX.Element {
  const { state } = usePage();
  const startedAtMs = state.look?.clock.startedAtMs ?? 0;
  const { id, from, to, capability, events, firstMs, lastMs, troubles } = of;
  return (
    <div role="row" aria-rowindex={index} class="tr agent">
      <span role="cell" class="name">
        <ConversationLink id={id} max={60} />
      </span>
      <span role="cell">
        <Text of={from ?? '?'} max={30} /> <span aria-hidden="true">→</span>
        <span class="unseen">to</span> <Text of={to ?? '?'} max={30} />{' '}
        <span class="quiet">
          <Text of={capability ?? ''} max={40} />
        </span>
      </span>
      <span role="cell" class="number">
        {events}
      </span>
      <span role="cell" class="number">
        {sinceStart(firstMs, startedAtMs)}
      </span>
      <span role="cell" class="number">
        {events < 2 ? '–' : durationText(lastMs - firstMs)}
      </span>
      <span role="cell" class={troubles > 0 ? 'number warning' : 'number quiet'}>
        {troubles > 0 ? <Icon name="warning" /> : null} {troubles}
      </span>
    </div>
  );
}
