import type { JSX } from 'preact';
import { durationText } from '../model/durations.ts';
import type { Trouble } from '../model/troubles.ts';
import { Icon } from './icon.tsx';
import { usePage } from './page-context.ts';
import { Text } from './text.tsx';

/** What the team is doing, in a sentence, and what is wrong. */
export function Summary({ isFirst = false }: { readonly isFirst?: boolean }): JSX.Element | null {
  const { state } = usePage();
  const { look } = state;
  if (look === undefined) return null;
  const { summary } = look;
  return (
    <section class="summary" aria-label="What is happening">
      <h1 class={isFirst ? '' : 'small'}>
        <Text of={summary.sentence} max={400} />
      </h1>
      {!isFirst ? null : summary.troubles.length === 0 ? (
        <p class="calm">
          <Icon name="good" /> Nothing is wrong
        </p>
      ) : (
        <>
          <ul class="strip" aria-label="Trouble, the worst first">
            {summary.troubles.slice(0, SHOWN).map((trouble) => (
              <li key={trouble.key} class={trouble.level}>
                <TroubleLine trouble={trouble} />
              </li>
            ))}
          </ul>
          {summary.bad + summary.warnings > SHOWN ? (
            <p class="all">
              <a href={state.link({ view: 'trouble' })}>All {summary.bad + summary.warnings} troubles</a>
            </p>
          ) : null}
        </>
      )}
    </section>
  );
}

/** More would push down what the page is for. */
const SHOWN = 4;

/** These say in their own words since when. */
const SAYS_HOW_LONG: ReadonlySet<string> = new Set(['wait', 'stalled']);

export function TroubleLine({ trouble }: { readonly trouble: Trouble }): JSX.Element {
  const { state } = usePage();
  const { level, kind, text, agentId, conversationId, sinceMs, untilMs } = trouble;
  const nowMs = state.look?.clock.atMs ?? 0;
  const link =
    conversationId !== undefined
      ? state.link({ view: 'conversation', id: conversationId })
      : agentId !== undefined
        ? state.link({ view: 'agent', id: agentId })
        : state.link({ view: 'trouble' });
  return (
    <a href={link} class="trouble">
      <Icon name={level} level={level} />
      <span class="kind">{kind}</span> <Text of={text} max={160} />
      {sinceMs === undefined || SAYS_HOW_LONG.has(kind) ? null : (
        <span class="quiet"> · {durationText(nowMs - sinceMs)} ago</span>
      )}
      {untilMs === undefined ? null : (
        <span class="quiet">
          {untilMs >= nowMs
            ? ` · for ${durationText(untilMs - nowMs)} more at most`
            : ` · ${durationText(nowMs - untilMs)} too late`}
        </span>
      )}
    </a>
  );
}
