import type { JSX } from 'preact';
import { usePage } from './page-context.ts';
import { TokenForm } from './dialogs.tsx';

/** What stands there while there is nothing to see yet. */
export function Start({ onToken }: { readonly onToken: (token: string) => void }): JSX.Element {
  const { state } = usePage();
  const source = state.look?.source;
  const isWaiting =
    source?.state === 'connecting' || source?.state === 'connected' || source?.state === 'opening';
  return (
    <div class="start">
      <h1>See what a team of agents does</h1>
      {isWaiting ? (
        <p role="status">{source?.text}…</p>
      ) : (
        <>
          {source?.state === 'wrong-token' ? (
            <p class="message bad" role="alert">
              The token is not right. It stands in the line that the team printed when it started.
            </p>
          ) : null}
          {source?.state === 'may-not-watch' ? (
            <p class="message bad" role="alert">
              This token is known, but it may not watch the team.
            </p>
          ) : null}
          {source?.state === 'reconnecting' ? (
            <p class="message warning" role="status">
              {source.text}
            </p>
          ) : null}
          <h2>A running team</h2>
          <TokenForm onToken={onToken} />
        </>
      )}
      <h2>A recorded run</h2>
      <p>
        Drop a trace anywhere on this page, or choose “Open a trace”. <code>orrery run --record FILE</code>{' '}
        writes one, and so does a simulation that fails. It is read here, in the browser, and goes nowhere.
      </p>
    </div>
  );
}
