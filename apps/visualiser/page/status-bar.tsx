import type { JSX } from 'preact';
import { shownText } from '../model/shown-text.ts';
import type { SourceLook } from '../worker/look.ts';
import { Icon } from './icon.tsx';
import { perSecondText } from './meter.tsx';
import { usePage } from './page-context.ts';
import { Text } from './text.tsx';

const ICONS: Readonly<Record<SourceLook['state'], string>> = {
  none: 'unknown',
  connecting: 'starting',
  connected: 'running',
  reconnecting: 'restarting',
  'wrong-token': 'bad',
  'may-not-watch': 'bad',
  stopped: 'stopped',
  opening: 'starting',
  opened: 'good',
};

/** How the page is connected, how much it hears, and what it did not. */
export function StatusBar(): JSX.Element {
  const { state } = usePage();
  const source = state.look?.source;
  if (source === undefined) return <div class="status-bar">Starting</div>;
  const level =
    source.state === 'reconnecting'
      ? 'warning'
      : source.state === 'wrong-token' || source.state === 'may-not-watch'
        ? 'bad'
        : '';
  return (
    <div class="status-bar">
      <span class={`connection ${level}`} role="status" data-state={source.state}>
        <Icon name={ICONS[source.state]} />
        <Text of={source.text} max={120} />
      </span>
      {source.kind === 'live' ? (
        <span class="number">{perSecondText(source.eventsPerSecond)} events</span>
      ) : null}
      {source.leftOut > 0 ? (
        <span class="warning">
          <Icon name="warning" /> {source.leftOut} events left out under load
        </span>
      ) : null}
      {source.gaps > 0 ? (
        <span class="warning" title="While the connection was lost, things happened that are not here">
          <Icon name="warning" /> {source.gaps === 1 ? 'one gap' : `${source.gaps} gaps`} in the recording
        </span>
      ) : null}
      {source.dropped > 0 ? (
        <span title="The page keeps the last of a live team">
          {source.dropped} older events no longer kept
        </span>
      ) : null}
      {source.trace === undefined ? null : <TraceStatus source={source} />}
      {source.state === 'wrong-token' || source.state === 'may-not-watch' ? (
        <button type="button" onClick={() => state.show({ kind: 'token' })}>
          Give another token
        </button>
      ) : null}
    </div>
  );
}

function TraceStatus({ source }: { readonly source: SourceLook }): JSX.Element | null {
  const { state } = usePage();
  const { trace } = source;
  if (trace === undefined) return null;
  const { faults, leftOutLines, events, isOpening, fraction } = trace;
  return (
    <>
      <span class="number">
        {isOpening ? `${Math.round(fraction * 100)} % read, ` : ''}
        {events} events
      </span>
      {faults.length > 0 ? (
        <details class="faults">
          <summary class="warning">
            <Icon name="warning" /> {shownText(faults[0]?.text ?? '', 90)}
            {leftOutLines > 1 ? `, and more: ${leftOutLines} lines left out` : ''}
          </summary>
          <ul>
            {faults.map(({ text, line }, at) => (
              <li key={`${line} ${at}`}>
                <Text of={text} />
              </li>
            ))}
          </ul>
        </details>
      ) : null}
      <button type="button" onClick={() => void state.backToLive()}>
        {source.hasLive ? 'Back to live' : 'Close the trace'}
      </button>
    </>
  );
}
