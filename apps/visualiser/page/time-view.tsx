import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { durationText, sinceStart } from '../model/durations.ts';
import type { MachineLook, TimeLook } from '../worker/look.ts';
import { Icon } from './icon.tsx';
import { MachineBody } from './machine.tsx';
import { useBody, usePage } from './page-context.ts';
import { Summary } from './summary.tsx';
import { AgentLink, ConversationLink, Text } from './text.tsx';

/** What happened one by one, and the machines as they were then. */
export function TimeView(): JSX.Element {
  const body = useBody({ view: 'time' });
  return (
    <div class="view time">
      <Summary />
      {body === undefined ? null : (
        <div class="split even">
          <Entries body={body} />
          <section aria-label="At this moment">
            <Current body={body} />
            <Moved body={body} />
          </section>
        </div>
      )}
    </div>
  );
}

function Entries({ body }: { readonly body: TimeLook }): JSX.Element {
  const { state } = usePage();
  const startedAtMs = state.look?.clock.startedAtMs ?? 0;
  const current = useRef<HTMLLIElement>(null);
  const box = useRef<HTMLElement>(null);
  const at = body.current?.number;
  const isFollowing = state.look?.clock.isFollowing === true && state.look.source.kind === 'live';
  useEffect(() => {
    const item = current.current;
    const list = box.current;
    if (item === null || list === null || isFollowing) return;
    list.scrollTop = item.offsetTop - list.offsetTop - list.clientHeight / 2;
  }, [at]);
  return (
    <section aria-label="What happened">
      <h2>What happened</h2>
      {body.entries.length === 0 ? (
        <p class="empty">Nothing yet.</p>
      ) : (
        <section class="scroll entries" ref={box} tabIndex={0} aria-label="List of events">
          <ol>
            {body.entries.map(({ number, atMs, text, isBad, isCurrent, type }) => (
              <li
                key={number}
                ref={isCurrent ? current : null}
                class={`${isCurrent ? 'current' : ''} ${at !== undefined && number > at ? 'later' : ''}`}
              >
                <button
                  type="button"
                  aria-current={isCurrent ? 'step' : undefined}
                  onClick={() => state.holdAt(number + 1)}
                >
                  <span class="number quiet">{sinceStart(atMs, startedAtMs)}</span>
                  {isBad ? (
                    <Icon name="bad" level="bad" />
                  ) : isCurrent ? (
                    <Icon name="play" />
                  ) : (
                    <span class="icon" />
                  )}
                  <span class="kind">{type}</span>
                  <Text of={text} max={150} />
                </button>
              </li>
            ))}
          </ol>
        </section>
      )}
    </section>
  );
}

function Current({ body }: { readonly body: TimeLook }): JSX.Element {
  const { current } = body;
  if (current === undefined)
    return (
      <>
        <h2>Before it all</h2>
        <p class="empty">Step forward, or play.</p>
      </>
    );
  return (
    <>
      <h2>
        <Text of={current.text} max={200} />
      </h2>
      <p class="line">
        {current.agentId === undefined ? null : (
          <span>
            Agent <AgentLink id={current.agentId} />
          </span>
        )}
        {current.conversationId === undefined ? null : (
          <span>
            Conversation <ConversationLink id={current.conversationId} />
          </span>
        )}
      </p>
      <details class="more">
        <summary>All fields of this event</summary>
        <dl>
          {current.fields.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Text of={value} max={400} />
              </dd>
            </div>
          ))}
        </dl>
      </details>
    </>
  );
}

/** The machines that moved last; the one of this event is drawn, unless another is chosen. */
function Moved({ body }: { readonly body: TimeLook }): JSX.Element {
  const { state } = usePage();
  const nowMs = state.look?.clock.atMs ?? 0;
  const [pinned, setPinned] = useState<string>();
  const chosen: MachineLook | undefined = body.moved.find(({ key }) => key === pinned) ?? body.machine;
  return (
    <>
      <h2>Machines, as they are at this moment</h2>
      {body.moved.length === 0 ? (
        <p class="empty">No state machine has moved yet.</p>
      ) : (
        <ul class="chips" aria-label="Machines that moved last">
          {body.moved.map(({ key, machine, actorId, state: at, sinceMs }) => (
            <li key={key}>
              <button
                type="button"
                aria-pressed={chosen?.key === key}
                onClick={() => setPinned(pinned === key ? undefined : key)}
              >
                <strong>
                  <Text of={actorId} max={22} />
                </strong>{' '}
                <span class="quiet">
                  <Text of={machine} max={18} />
                </span>{' '}
                ● <Text of={at} max={28} /> <span class="quiet">{durationText(nowMs - sinceMs)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {chosen === undefined ? null : <MachineBody key={chosen.key} machine={chosen} />}
    </>
  );
}
