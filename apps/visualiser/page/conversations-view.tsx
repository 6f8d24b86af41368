import type { JSX } from 'preact';
import { sinceStart, durationText } from '../model/durations.ts';
import { Icon } from './icon.tsx';
import { useBody, usePage } from './page-context.ts';
import { Summary } from './summary.tsx';
import { ConversationLink, Text } from './text.tsx';

export function ConversationsView(): JSX.Element {
  const { state } = usePage();
  const { text } = state.route;
  const body = useBody({ view: 'conversations', text });
  const startedAtMs = state.look?.clock.startedAtMs ?? 0;
  return (
    <div class="view">
      <Summary />
      <div class="bar">
        <h2>Conversations</h2>
        <span class="quiet">
          {body === undefined
            ? ''
            : `${body.conversations.length} of ${body.total}, the last ones first. Each is all that one request has caused.`}
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
      {body === undefined ? null : body.conversations.length === 0 ? (
        <p class="empty">
          {text === '' ? 'Nobody has asked anything yet.' : 'No conversation is like that.'}
        </p>
      ) : (
        <table class="plain wide">
          <thead>
            <tr>
              <th scope="col">Conversation</th>
              <th scope="col">Began with</th>
              <th scope="col">Events</th>
              <th scope="col">Began</th>
              <th scope="col">Took</th>
              <th scope="col">Went wrong</th>
            </tr>
          </thead>
          <tbody>
            {body.conversations.map(({ id, from, to, capability, events, firstMs, lastMs, troubles }) => (
              <tr key={id}>
                <th scope="row">
                  <ConversationLink id={id} max={60} />
                </th>
                <td>
                  <Text of={from ?? '?'} max={30} /> <span aria-hidden="true">→</span>
                  <span class="unseen">to</span> <Text of={to ?? '?'} max={30} />{' '}
                  <span class="quiet">
                    <Text of={capability ?? ''} max={40} />
                  </span>
                </td>
                <td class="number">{events}</td>
                <td class="number">{sinceStart(firstMs, startedAtMs)}</td>
                <td class="number">{events < 2 ? '–' : durationText(lastMs - firstMs)}</td>
                <td class={troubles > 0 ? 'number warning' : 'number quiet'}>
                  {troubles > 0 ? <Icon name="warning" /> : null} {troubles}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
